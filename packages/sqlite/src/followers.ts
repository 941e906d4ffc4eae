import type { Connection } from "./connection.ts";
import { isBusy, sqliteCode } from "./failure.ts";
import type { Pulse, Reader } from "./reader.ts";
import { SEQS } from "./protocol.ts";

const POLL_MS = 20;

interface Followed {
  callbacks: Set<{ changed: (seq?: number) => void }>;
  pulse: Pulse | undefined;
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

  follow(threadId: string, changed: (seq?: number) => void): () => void {
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

  /** Something has changed. `seq`: nothing but that the journal reaches this far now. */
  tell(threadId: string, seq?: number): void {
    for (const { changed } of this.#followed.get(threadId)?.callbacks ?? []) queueMicrotask(() => changed(seq));
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
      // It may pass. If the file has gone bad, whoever follows learns how when it reads.
      if (isBusy(error)) return;
    }
    for (const [threadId, followed] of this.#followed) {
      const { pulse: before } = followed;
      const now = this.#pulse(threadId);
      followed.pulse = now;
      if (!now || !before || before.other !== now.other) this.tell(threadId);
      else if (before.event !== now.event) this.tell(threadId, (now.event ?? 0) % SEQS);
    }
  }

  /** A thread that cannot be looked at has no pulse, which is never equal to another. */
  #pulse(threadId: string): Pulse | undefined {
    try {
      return this.#reader.pulse(threadId);
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      return undefined;
    }
  }
}
