import { setImmediate as breathe } from "node:timers/promises";

/** A file with a NUL among its first bytes is not text, and is not searched. */
export const PROBE_BYTES = 8_192;

export const isBinary = (beginning: Uint8Array): boolean => beginning.subarray(0, PROBE_BYTES).includes(0);

/** After so many bytes others get a turn: what is in memory comes without ever waiting. */
const BREATH_BYTES = 4 * 1024 * 1024;

/** The contents of a file that can be searched; nothing for one that is not text. */
export async function* searchable(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let beginning: Uint8Array[] | null = [];
  let length = 0;
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    const before = length;
    length += chunk.length;
    if (Math.floor(before / BREATH_BYTES) !== Math.floor(length / BREATH_BYTES)) await breathe();
    if (!beginning) {
      yield chunk;
      continue;
    }
    beginning.push(chunk);
    if (length < PROBE_BYTES) continue;
    if (isBinary(Buffer.concat(beginning))) return;
    yield* beginning;
    beginning = null;
  }
  if (beginning && !isBinary(Buffer.concat(beginning))) yield* beginning;
}
