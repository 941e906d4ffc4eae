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
  const held: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of untilAborted(chunks, signal)) {
    await yieldIfDue();
    held.push(chunk);
    const isProbed = length >= PROBE_BYTES;
    length += chunk.length;
    if (length < PROBE_BYTES) continue;
    if (!isProbed && isBinary(Buffer.concat(held))) return;
    yield* held.splice(0);
  }
  if (!isBinary(Buffer.concat(held))) yield* held;
}
