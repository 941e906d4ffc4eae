import type { Feed } from "./feed.ts";
import { GOODBYE, HEARTBEAT } from "./stream-comments.ts";

/** What a connection may hold unsent. While it does, the watcher is passed over. */
const SOCKET_BYTES = 64_000;

interface WatcherStart {
  /** What it gets first. */
  first: Uint8Array;
  /** The chunk of the feed that it gets next. */
  next: number;
  left(): void;
}

/** One stream of a feed: a cursor. Nothing is queued for it but what its connection holds. */
export class Watcher {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #feed: Feed;
  readonly #left: () => void;
  #next: number;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #drained = Promise.withResolvers<void>();
  #wasQuiet = false;
  #isOver = false;
  #bytes = 0;

  constructor(feed: Feed, { first, next, left }: WatcherStart) {
    this.#feed = feed;
    this.#next = next;
    this.#left = left;
    const source: UnderlyingDefaultSource<Uint8Array> = {
      start: (controller) => {
        this.#controller = controller;
        this.#write(first);
      },
      pull: () => this.#catchUp(),
      cancel: () => this.#leave(),
    };
    this.stream = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: SOCKET_BYTES }));
  }

  /** How many bytes it was sent. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sends what is new, as far as the connection takes it. */
  send(): void {
    while (!this.#isOver && this.#hasRoom && this.#next < this.#feed.end) {
      const chunk = this.#feed.chunkAt(this.#next);
      if (!chunk) return;
      this.#next += 1;
      this.#write(chunk);
    }
  }

  /** Sends a frame that is not of the feed, when the connection has room. Settles when it is sent, or the stream is over. */
  async insert(frame: Uint8Array): Promise<void> {
    while (!this.#isOver && !this.#hasRoom) await this.#drained.promise;
    if (!this.#isOver) this.#write(frame);
  }

  /** The connection has room again. If what it misses is no longer in the feed, it gets the display instead. */
  #catchUp(): void {
    this.#drained.resolve();
    this.#drained = Promise.withResolvers();
    this.send();
    if (this.#isOver || !this.#hasRoom || this.#next === this.#feed.end) return;
    this.#feed.metrics.resync("slow");
    const { first, next } = this.#feed.resync();
    this.#next = next;
    this.#write(first);
  }

  /** Called at an interval: a stream that was silent since gets a comment. */
  beat(): void {
    if (this.#wasQuiet && !this.#isOver && this.#hasRoom) this.#write(HEARTBEAT);
    this.#wasQuiet = true;
  }

  /** Ends the stream, after what its connection already holds. */
  end(): void {
    if (this.#isOver) return;
    this.#write(GOODBYE);
    this.#controller.close();
    this.#leave();
  }

  get #hasRoom(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0;
  }

  #write(chunk: Uint8Array): void {
    this.#wasQuiet = false;
    this.#bytes += chunk.length;
    this.#feed.metrics.sent(chunk.length);
    this.#controller.enqueue(chunk);
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#drained.resolve();
    this.#left();
  }
}
