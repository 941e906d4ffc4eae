/**
 * Looks for many threads at once. One look runs at a time; threads that are wanted meanwhile share the next one, because the look that
 * runs may have begun before they were awake.
 */
export class SharedLook {
  readonly #lookFor: (wanted: ReadonlySet<string>) => Promise<void>;
  #running: Promise<unknown> = Promise.resolve();
  #next: { wanted: Set<string>; done: Promise<void> } | undefined;

  constructor(lookFor: (wanted: ReadonlySet<string>) => Promise<void>) {
    this.#lookFor = lookFor;
  }

  /** Settles after a look that began later than the call. */
  look(threadId: string): Promise<void> {
    this.#next ??= this.#begin();
    this.#next.wanted.add(threadId);
    return this.#next.done;
  }

  #begin(): { wanted: Set<string>; done: Promise<void> } {
    const wanted = new Set<string>();
    const done = this.#running.then(() => {
      this.#next = undefined;
      return this.#lookFor(wanted);
    });
    this.#running = done.catch(() => undefined);
    return { wanted, done };
  }
}
