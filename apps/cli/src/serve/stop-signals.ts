import { ExitCode } from "../exit.ts";
import { SAME_KEY_MS } from "../run/shutdown.ts";

const SIGNALS = { SIGINT: ExitCode.aborted, SIGTERM: ExitCode.terminated, SIGHUP: ExitCode.hangup } as const;

/** The signals that stop a server: the first asks it to finish, the second ends the process at once. */
export class StopSignals {
  /** Settles with the first signal. */
  readonly first: Promise<void>;
  #firstAt: number | undefined;
  readonly #handlers: readonly [NodeJS.Signals, () => void][];

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    this.#handlers = Object.entries(SIGNALS).map(([signal, code]) => [
      signal as NodeJS.Signals,
      () => {
        const now = performance.now();
        if (this.#firstAt !== undefined && now - this.#firstAt >= SAME_KEY_MS) process.exit(code);
        this.#firstAt ??= now;
        resolve();
      },
    ]);
    for (const [signal, handler] of this.#handlers) process.on(signal, handler);
  }

  [Symbol.dispose](): void {
    for (const [signal, handler] of this.#handlers) process.off(signal, handler);
  }
}
