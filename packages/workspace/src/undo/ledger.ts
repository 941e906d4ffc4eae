const MAX_ENTRIES = 10_000;

/** What was written through this workspace: a command that ran at the same time did not make these changes. */
export class Ledger {
  readonly #written = new Map<string, { hash: string | null; at: number }>();

  /** `null`: the file was deleted. */
  note(path: string, hash: string | null): void {
    this.#written.delete(path);
    this.#written.set(path, { hash, at: Date.now() });
    if (this.#written.size > MAX_ENTRIES) this.#written.delete(this.#written.keys().next().value!);
  }

  /** Whether the last write to the file, since then, left it in this state. */
  has(path: string, hash: string | null, since: number): boolean {
    const written = this.#written.get(path);
    return written !== undefined && written.hash === hash && written.at >= since;
  }
}
