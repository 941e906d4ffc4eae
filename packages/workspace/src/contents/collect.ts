/** All bytes of a stream. Chunks are copied, because a stream may reuse their memory. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const copies: Uint8Array[] = [];
  for await (const chunk of chunks) copies.push(new Uint8Array(chunk));
  return Buffer.concat(copies);
}

/** The same chunks. Throws at the next one, or at the end, if the signal is aborted. */
export async function* untilAborted(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    yield chunk;
  }
  signal?.throwIfAborted();
}
