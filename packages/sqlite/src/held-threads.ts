/** The followed threads that each holder holds. It changes only with a lease, so that a look at the holders costs nothing for each thread. */
export class HeldThreads {
  readonly #threads = new Map<string, Set<string>>();

  get holders(): string[] {
    return [...this.#threads.keys()];
  }

  of(holder: string): Iterable<string> {
    return this.#threads.get(holder) ?? [];
  }

  /** `from` and `to` are the holders before and after a change. */
  move(threadId: string, { from, to }: { from?: string | null | undefined; to?: string | null | undefined }): void {
    if (from === to) return;
    if (from) this.#delete(from, threadId);
    if (to) this.#add(to, threadId);
  }

  #add(holder: string, threadId: string): void {
    const threads = this.#threads.get(holder);
    if (threads) threads.add(threadId);
    else this.#threads.set(holder, new Set([threadId]));
  }

  #delete(holder: string, threadId: string): void {
    const threads = this.#threads.get(holder);
    threads?.delete(threadId);
    if (threads?.size === 0) this.#threads.delete(holder);
  }
}
