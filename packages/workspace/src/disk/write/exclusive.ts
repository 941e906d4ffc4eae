const last = new Map<string, Promise<void>>();

/** Runs work with the same key one after the other, within this process. */
export async function withLock<T>(key: string, work: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = last.get(key);
  last.set(key, promise);
  try {
    await before;
    return await work();
  } finally {
    resolve();
    if (last.get(key) === promise) last.delete(key);
  }
}
