import type { GrepMatch, GrepQuery } from "../backend.ts";
import { lineText, MAX_LINE_BYTES, wholeLines } from "./lines.ts";
import { ripgrep } from "./ripgrep.ts";

export interface Source {
  path: string;
  contents: AsyncIterable<Uint8Array>;
}

interface Beginning {
  path: string;
  line: number;
}

/** Room for a line number. */
const PREFIX_BYTES = 24;
const NEWLINE = 10;

/** The matching lines of many files. One ripgrep process reads them all from its standard input; the line number tells the file. */
export async function* lineMatches(
  sources: AsyncIterable<Source>,
  query: GrepQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<GrepMatch> {
  /** The line of the input at which each file begins. Matches come in order, so earlier files are dropped. */
  const begun: Beginning[] = [];
  const printed = ripgrep({
    query,
    paths: ["-"],
    options: ["--text", "--no-filename", "--line-number"],
    input: concatenated(sources, begun),
    signal,
  });
  for await (const lines of wholeLines(printed, PREFIX_BYTES + MAX_LINE_BYTES)) {
    for (let at = 0; at < lines.length;) {
      const [colon, end] = [lines.indexOf(":", at), lines.indexOf(NEWLINE, at)];
      const line = Number(lines.toString("latin1", at, colon));
      const text = lines.subarray(colon + 1, Math.min(end, colon + 1 + MAX_LINE_BYTES));
      at = end + 1;
      const next = begun.findIndex((one) => one.line > line);
      begun.splice(0, (next < 0 ? begun.length : next) - 1);
      const file = begun[0]!;
      yield { path: file.path, line: line - file.line + 1, text: lineText(text) };
    }
  }
}

async function* concatenated(sources: AsyncIterable<Source>, begun: Beginning[]): AsyncGenerator<Uint8Array> {
  let line = 1;
  for await (const { path, contents } of sources) {
    let [begins, last] = [true, NEWLINE];
    for await (const chunk of contents) {
      if (chunk.length === 0) continue;
      if (begins) begun.push({ path, line });
      begins = false;
      line += newlinesIn(chunk);
      last = chunk.at(-1)!;
      yield chunk;
    }
    if (last === NEWLINE) continue;
    line++;
    yield Uint8Array.of(NEWLINE);
  }
}

function newlinesIn(chunk: Uint8Array): number {
  let count = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
