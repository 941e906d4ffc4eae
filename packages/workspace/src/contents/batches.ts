/** One append to the journal holds about this much. */
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_FILES = 200;

/** Groups changes for the journal. The contents of one group are in memory. */
export async function* inBatches<T>(items: AsyncIterable<T>, bytesOf: (item: T) => number): AsyncGenerator<T[]> {
  let [batch, bytes]: [T[], number] = [[], 0];
  for await (const item of items) {
    batch.push(item);
    bytes += bytesOf(item);
    if (bytes < BATCH_BYTES && batch.length < BATCH_FILES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
