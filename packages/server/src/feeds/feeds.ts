import type { Harness } from "@cinch/core";
import { Feed } from "./feed.ts";

/** The feeds of the threads that are watched. */
export class Feeds {
  readonly #harness: Harness;
  readonly #feeds = new Map<string, Promise<Feed>>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(harness: Harness, heartbeatMs: number) {
    this.#harness = harness;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    this.#heartbeat.unref();
  }

  /** The feed of a thread. The caller's access to the thread is checked before. */
  of(threadId: string): Promise<Feed> {
    const known = this.#feeds.get(threadId);
    if (known) return known;
    const opened = this.#open(threadId);
    this.#feeds.set(threadId, opened);
    opened.catch(() => this.#feeds.delete(threadId));
    return opened;
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    const open = [...this.#feeds.values()];
    this.#feeds.clear();
    await Promise.allSettled(open.map(async (feed) => (await feed).close()));
  }

  async #open(threadId: string): Promise<Feed> {
    const session = await this.#harness.createSession({ threadId });
    const feed: Feed = new Feed(session, () => {
      this.#feeds.delete(threadId);
      feed.close().catch(() => undefined);
    });
    return feed;
  }

  #beat(): void {
    for (const feed of this.#feeds.values()) feed.then((one) => one.beat()).catch(() => undefined);
  }
}
