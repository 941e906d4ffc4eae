import type { Connection } from "./connection.ts";
import { isBusy, sqliteCode } from "./failure.ts";
import type { Reader } from "./reader.ts";

const POLL_MS = 20;

interface Followed {
  callbacks: Set<{ changed: () => void }>;
  pulse: string | undefined;
}

/** Who wants to know when a thread changes. One cheap question to the file, 50 times a second, serves them all. */
export class Followers {
  readonly #connection: Connection;
  readonly #reader: Reader;
  readonly #followed = new Map<string, Followed>();
  #dataVersion = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: Connection, reader: Reader) {
    this.#connection = connection;
    this.#reader = reader;
  }

  follow(threadId: string, changed: () => void): () => void {
    const followed = this.#followed.get(threadId) ?? { callbacks: new Set(), pulse: this.#pulse(threadId) };
    const follower = { changed };
    this.#followed.set(threadId, followed);
    followed.callbacks.add(follower);
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref();
    return () => {
      followed.callbacks.delete(follower);
      if (followed.callbacks.size === 0 && this.#followed.get(threadId) === followed) this.#followed.delete(threadId);
      if (this.#followed.size === 0) this.stop();
    };
  }

  /** Something was changed through this store object. */
  tell(threadId: string): void {
    const followed = this.#followed.get(threadId);
    if (!followed) return;
    followed.pulse = this.#pulse(threadId);
    for (const { changed } of followed.callbacks) queueMicrotask(changed);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    try {
      const dataVersion = this.#connection.dataVersion();
      if (dataVersion === this.#dataVersion) return;
      this.#dataVersion = dataVersion;
    } catch (error) {
      if (isBusy(error)) return;
      // The file has gone bad. Whoever follows learns how when it reads.
      this.stop();
    }
    for (const [threadId, { pulse }] of this.#followed) {
      const now = this.#pulse(threadId);
      if (now === undefined || now !== pulse) this.tell(threadId);
    }
  }

  /** A thread that cannot be looked at has no pulse, which is never equal to another. */
  #pulse(threadId: string): string | undefined {
    try {
      return this.#reader.pulse(threadId);
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      return undefined;
    }
  }
}
