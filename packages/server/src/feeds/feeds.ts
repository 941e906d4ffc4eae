import type { Harness } from "@cinch/core";
import { draining } from "../http/http-error.ts";
import type { Metrics } from "../observe/metrics.ts";
import { Feed } from "./feed.ts";
import { encodeText } from "./frames.ts";
import { ListStream } from "./list-stream.ts";
import type { Watcher } from "./watcher.ts";

/** A stream that needs comments while it is silent, and that ends with the server. */
interface EndingStream {
  beat(): void;
  end(): void;
}

interface FeedsPorts {
  harness: Harness;
  metrics: Metrics;
  heartbeatMs: number;
}

interface OpenFeed {
  feed: Promise<Feed>;
  uses: number;
}

/** The feeds of the threads that are watched, and the streams of lists. A feed is open as long as a caller uses it. */
export class Feeds {
  readonly #harness: Harness;
  readonly #metrics: Metrics;
  readonly #feeds = new Map<string, OpenFeed>();
  readonly #streams = new Set<EndingStream>();
  readonly #heartbeat: NodeJS.Timeout;
  #isClosed = false;

  constructor({ harness, metrics, heartbeatMs }: FeedsPorts) {
    this.#harness = harness;
    this.#metrics = metrics;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    this.#heartbeat.unref();
  }

  get size(): number {
    return this.#feeds.size;
  }

  /** The feed of a thread, until `leave` is called. The caller's access to the thread is checked before. */
  async take(threadId: string): Promise<{ feed: Feed; leave: () => void }> {
    this.#refuseClosed();
    const open = this.#feeds.get(threadId) ?? { feed: this.#open(threadId), uses: 0 };
    this.#feeds.set(threadId, open);
    open.uses += 1;
    const leave = () => this.#leave(threadId, open);
    try {
      return { feed: await open.feed, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** The changes of the threads of a resource. */
  async list({ resourceId, left }: { resourceId: string; left: () => void }): Promise<ListStream> {
    this.#refuseClosed();
    const changes = await this.#harness.followThreads({ resourceId });
    const leave = () => {
      this.#streams.delete(list);
      left();
    };
    const list = new ListStream({ changes, metrics: this.#metrics, left: leave });
    this.join(list);
    return list;
  }

  /** Ends the stream when the server closes. Returns a function that forgets it. */
  join(stream: EndingStream): () => void {
    this.#streams.add(stream);
    if (this.#isClosed) stream.end();
    return () => this.#streams.delete(stream);
  }

  /** Adds the changes of the threads of a resource to a stream. Settles when `signal` is aborted or the changes end. */
  async addList(watcher: Watcher, { resourceId, signal }: { resourceId: string; signal: AbortSignal }): Promise<void> {
    const changes = await this.#harness.followThreads({ resourceId });
    const stop = () => changes.return?.().catch(() => undefined);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    for await (const change of changes)
      await watcher.insert(encodeText(`event: list\ndata: ${JSON.stringify(change)}\n\n`));
  }

  /** Tells the watchers of a thread who is at it. */
  announce(threadId: string, people: readonly string[]): void {
    this.#feeds
      .get(threadId)
      ?.feed.then((feed) => feed.announce(people))
      .catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    for (const stream of this.#streams) stream.end();
    const open = [...this.#feeds.values()];
    this.#feeds.clear();
    await Promise.allSettled(open.map(async ({ feed }) => (await feed).close()));
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw draining();
  }

  async #open(threadId: string): Promise<Feed> {
    return new Feed(await this.#harness.createSession({ threadId }), this.#metrics);
  }

  #leave(threadId: string, open: OpenFeed): void {
    open.uses -= 1;
    if (open.uses > 0 || this.#feeds.get(threadId) !== open) return;
    this.#feeds.delete(threadId);
    // A feed that could not be opened has reported that to its callers.
    open.feed.then((feed) => feed.close()).catch(() => undefined);
  }

  #beat(): void {
    for (const { feed } of this.#feeds.values()) feed.then((one) => one.beat()).catch(() => undefined);
    for (const stream of this.#streams) stream.beat();
  }
}
