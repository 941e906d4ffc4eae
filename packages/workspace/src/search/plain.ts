import type { GrepMatch, GrepQuery } from "../backend.ts";
import { LineHead, lineText, piecesOf } from "./lines.ts";

type Text = Pick<GrepQuery, "pattern" | "ignoreCase">;

export async function* plainMatches(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  query: Text,
): AsyncGenerator<GrepMatch> {
  const { holds, overlap } = finder(query);
  const head = new LineHead();
  let before: Buffer = Buffer.alloc(0);
  let [line, hit] = [1, false];
  for await (const pieces of piecesOf(chunks)) {
    for (const { bytes, last } of pieces) {
      head.add(bytes);
      const joined = before.length === 0 ? bytes : Buffer.concat([before, bytes]);
      hit ||= holds(joined);
      if (!last) {
        // The text may span two pieces of a line.
        before = overlap === 0 ? Buffer.alloc(0) : Buffer.from(joined.subarray(-overlap));
        continue;
      }
      const text = head.take();
      if (hit) yield { path, line, text: lineText(text) };
      line++;
      hit = false;
      before = Buffer.alloc(0);
    }
  }
}

function finder({ pattern, ignoreCase }: Text): { holds(bytes: Buffer): boolean; overlap: number } {
  const needle = Buffer.from(pattern);
  if (needle.length === 0) return { holds: () => true, overlap: 0 };
  if (!ignoreCase) return { holds: (bytes) => bytes.includes(needle), overlap: needle.length - 1 };
  const lower = pattern.toLowerCase();
  // A letter may take more bytes in its other case.
  return { holds: (bytes) => bytes.toString("utf8").toLowerCase().includes(lower), overlap: 4 * needle.length };
}
