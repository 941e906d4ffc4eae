import type { ThreadListChange, ThreadRecord } from "@cinch/core";
import { ThreadChanges } from "@cinch/core/remote";
import { EventStream, type StreamPorts } from "./event-stream.ts";
import { pause } from "./pause.ts";
import { answerOf, mayRetry, type Wire } from "./wire.ts";

/**
 * The changes of the list of threads, for all that follow them, over the stream of a thread, if one is open, or else one of its own: a
 * browser has six connections to a server.
 */
export class ListFeed implements StreamPorts {
  readonly path = "";
  readonly #wire: Wire;
  readonly #followers = new Map<ThreadChanges, { resolve(): void; reject(error: unknown): void }>();
  /** A session that changes threads has two for a moment. A change that both bring is the same twice. */
  readonly #carriers = new Set<unknown>();
  #own: EventStream | undefined;
  /** The threads of the list, when it was loaded last. */
  #known: Set<string> | undefined;
  #isOld = false;
  #isLoading = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** The changes from now on. After a reconnect, all threads of the list count as changed. */
  follow(): Promise<ThreadChanges> {
    const changes: ThreadChanges = new ThreadChanges(() => {
      this.#followers.delete(changes);
      this.#settle();
    });
    return new Promise((done, reject) => {
      const resolve = () => done(changes);
      this.#followers.set(changes, { resolve, reject });
      if (this.#known) resolve();
      // A stream that is connected already does not connect for this one: after a refusal, nothing else loads the list.
      else if (this.#carriers.size > 0) this.connected();
      this.#settle();
    });
  }

  /** The stream of this thread is about to connect. If the list is followed, it brings the changes; otherwise it no longer does. */
  carriedBy(thread: object): true | undefined {
    if (this.#followers.size === 0) {
      this.left(thread);
      return;
    }
    this.#carriers.add(thread);
    return true;
  }

  /** The stream of this thread has ended, or does not connect. */
  left(thread: object): void {
    this.#carriers.delete(thread);
    this.#settle();
  }

  /** Something may have changed before the stream began. That of a thread replaces our own. */
  connected(thread?: object): void {
    if (this.#carriers.has(thread)) this.#closeOwn();
    if (this.#followers.size > 0) this.#reload().catch((error: unknown) => this.refused(error));
  }

  /** One loop, however often streams connect meanwhile. It ends when nothing follows the list. */
  async #reload(): Promise<void> {
    this.#isOld = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      for (let tries = 0; this.#isOld && this.#followers.size > 0; tries++) {
        this.#isOld = false;
        try {
          await this.poll();
        } catch (error) {
          if (!mayRetry(error, this.wasConnected())) throw error;
          this.#isOld = true;
          await pause(tries, [this.#wire.closed]);
        }
      }
    } finally {
      this.#isLoading = false;
    }
  }

  wasConnected(): boolean {
    return !!this.#known;
  }

  since(): undefined {
    return undefined;
  }

  isBusy(): boolean {
    return false;
  }

  take(change: ThreadListChange): void {
    for (const changes of this.#followers.keys()) changes.push(change);
  }

  async poll(): Promise<void> {
    const request = { path: "/threads", query: { limit: 500 } };
    // Once: the stream and `#reload` try again, for as long as the list is followed.
    const { value: threads } = await this.#wire.attempt(request, answerOf<ThreadRecord[]>);
    const now = new Set(threads.map(({ id }) => id));
    const before = this.#known;
    this.#known = now;
    for (const { resolve } of this.#followers.values()) resolve();
    if (!before) return;
    for (const thread of threads) this.take({ kind: "changed", thread });
    for (const threadId of before) if (!now.has(threadId)) this.take({ kind: "deleted", threadId });
  }

  /** What follows the list from now on begins anew: the caller may have another token then. */
  refused(error: unknown): void {
    this.#closeOwn();
    this.#known = undefined;
    for (const [changes, { reject }] of this.#followers) {
      reject(error);
      changes.end();
    }
  }

  #closeOwn(): void {
    this.#own?.close();
    this.#own = undefined;
  }

  /** Later: a session that changes threads closes one stream and opens the next. */
  #settle(): void {
    setTimeout(() => {
      if (this.#followers.size === 0) {
        this.#closeOwn();
        // Without a stream, what is known gets old.
        if (this.#carriers.size === 0) this.#known = undefined;
      } else if (this.#carriers.size === 0) this.#own ??= new EventStream(this.#wire, this);
    });
  }
}
