import { untilAborted } from "../contents/collect.ts";
import { yieldIfDue } from "../contents/pace.ts";

/** A file with a NUL among its first bytes is not text, and is not searched. */
export const PROBE_BYTES = 8_192;

export const isBinary = (beginning: Uint8Array): boolean => beginning.subarray(0, PROBE_BYTES).includes(0);

/** The contents of a text file; nothing for any other file. */
export async function* searchable(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let beginning: Uint8Array[] | null = [];
  let length = 0;
  for await (const chunk of untilAborted(chunks, signal)) {
    await yieldIfDue();
    if (!beginning) {
      yield chunk;
      continue;
    }
    beginning.push(chunk);
    length += chunk.length;
    if (length < PROBE_BYTES) continue;
    if (isBinary(Buffer.concat(beginning))) return;
    yield* beginning;
    beginning = null;
  }
  if (beginning && !isBinary(Buffer.concat(beginning))) yield* beginning;
}
