/** The commands of a session, which run one after the other, in the order of the calls. */
export class CommandQueue {
  readonly #ready: () => Promise<unknown>;
  readonly #closedError: () => Error;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** `ready` settles when commands can run. After the end, they reject with `closedError`. */
  constructor(ready: () => Promise<unknown>, closedError: () => Error) {
    this.#ready = ready;
    this.#closedError = closedError;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Settles when what belongs to a command may begin, also beside the commands that run. */
  async admit(): Promise<void> {
    if (this.#closed) throw this.#closedError();
    await this.#ready();
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      await this.admit();
      return work();
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** From now on, commands that have not begun reject with `CLOSED`. */
  abandon(): void {
    this.#closed = true;
  }

  /** The same, and settles when the command that runs has ended. */
  async close(): Promise<void> {
    this.abandon();
    await this.#last;
  }
}
