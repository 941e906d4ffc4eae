/** What was written to files through this workspace, so that no command that ran meanwhile is taken for whoever did it. */
export class Ledger {
  readonly #written = new Map<string, { hash: string | null; at: number }>();

  /** `null`: it was deleted. */
  note(path: string, hash: string | null): void {
    this.#written.delete(path);
    this.#written.set(path, { hash, at: Date.now() });
    if (this.#written.size <= MOST) return;
    for (const oldest of this.#written.keys()) {
      this.#written.delete(oldest);
      return;
    }
  }

  /** Whether that is what somebody has made of it since then. */
  has(path: string, hash: string | null, since: number): boolean {
    const written = this.#written.get(path);
    return written !== undefined && written.hash === hash && written.at >= since;
  }
}

const MOST = 10_000;
