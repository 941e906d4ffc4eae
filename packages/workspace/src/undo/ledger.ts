const MAX_ENTRIES = 10_000;

/** What was written through this workspace: a command that ran at the same time did not make these changes. */
export class Ledger {
  readonly #written = new Map<string, { hash: string | null; at: number }>();
  /** When the last of the writes was made that are not remembered any more. */
  #forgotten = -Infinity;

  /** `null`: the file was deleted. */
  note(path: string, hash: string | null): void {
    this.#written.delete(path);
    this.#written.set(path, { hash, at: Date.now() });
    if (this.#written.size <= MAX_ENTRIES) return;
    const [oldest, { at }] = this.#written.entries().next().value!;
    this.#written.delete(oldest);
    this.#forgotten = at;
  }

  /** Whether the file may have been written since then by a write that is not remembered. */
  mayHaveForgotten(path: string, since: number): boolean {
    return !this.#written.has(path) && this.#forgotten >= since;
  }

  /** Whether the last write to the file, since then, left it in this state. */
  has(path: string, hash: string | null, since: number): boolean {
    const written = this.#written.get(path);
    return written !== undefined && written.hash === hash && written.at >= since;
  }
}
