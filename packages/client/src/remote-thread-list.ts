import type { ThreadListChange, ThreadRecord } from "@cinch/core";
import { ThreadChanges, type CinchError } from "@cinch/core/remote";
import { EventStream } from "./event-stream.ts";
import type { Wire } from "./wire.ts";

const LISTED = 500;

/** The changes of the list of threads, for all readers of a client over one stream. */
export class RemoteThreadList {
  readonly #wire: Wire;
  readonly #readers = new Set<ThreadChanges>();
  #stream: EventStream | undefined;
  #opened: Promise<void> | undefined;
  /** The ids of the threads when the list was last loaded. */
  #known: ReadonlySet<string> | undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** The changes from now on. After a reconnect, all threads of the list count as changed. */
  async follow(): Promise<ThreadChanges> {
    const changes: ThreadChanges = new ThreadChanges(() => {
      this.#readers.delete(changes);
      if (this.#readers.size === 0) this.#close();
    });
    this.#readers.add(changes);
    this.#opened ??= this.#open();
    await this.#opened;
    return changes;
  }

  #open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const refused = (error: unknown) => {
        reject(error as CinchError);
        for (const reader of this.#readers) reader.end();
      };
      this.#stream = new EventStream(this.#wire, {
        path: "/events",
        since: () => undefined,
        isBusy: () => false,
        connected: () => this.#load().then(resolve, refused),
        take: (change) => this.#push(change as ThreadListChange),
        refused,
      });
    });
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = this.#opened = this.#known = undefined;
  }

  /** What happened while there was no stream is not sent again. */
  async #load(): Promise<void> {
    const before = this.#known;
    const { value } = await this.#wire.call<ThreadRecord[]>({ path: "/threads", query: { limit: LISTED } });
    const now = new Set(value.map(({ id }) => id));
    this.#known = now;
    if (!before) return;
    for (const thread of value) this.#push({ kind: "changed", thread });
    for (const threadId of before) if (!now.has(threadId)) this.#push({ kind: "deleted", threadId });
  }

  #push(change: ThreadListChange): void {
    for (const reader of this.#readers) reader.push(change);
  }
}
