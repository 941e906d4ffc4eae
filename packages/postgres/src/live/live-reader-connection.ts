import type { Duplex } from "node:stream";
import type { LiveFrame, LivePosition, LiveSource } from "@cinch/core";
import { MAX_FRAME_CHARS, MAX_REQUEST_CHARS, parseRequest, type LiveRequest } from "./live-message.ts";
import { LineSocket } from "./line-socket.ts";

/** A process that has more than this to read lags: it gets what is shown when it has read. */
const MAX_WAITING = 1_000_000;
/** A process that follows more threads than this is not one of ours. */
const MAX_FOLLOWED = 20_000;
/** A frame is encoded once for all readers. */
const encoded = new WeakMap<LiveFrame, string>();

interface Followed {
  threadId: string;
  /** `undefined`: it lags, and is to watch again. */
  stop: (() => void) | undefined;
}

/** One process that reads threads of this one. */
export class LiveReaderConnection {
  readonly #source: LiveSource;
  readonly #lines: LineSocket;
  readonly #followed = new Map<number, Followed>();
  readonly #lagging = new Set<number>();

  constructor(source: LiveSource, socket: { socket: Duplex; head: Buffer }, closed: () => void) {
    this.#source = source;
    this.#lines = new LineSocket(
      socket.socket,
      { head: socket.head, maxChars: MAX_REQUEST_CHARS },
      {
        line: (line) => this.#requested(parseRequest(line)),
        closed: () => {
          this.#stopAll();
          closed();
        },
      },
    );
    this.#lines.onDrain(() => this.#watchLagging());
  }

  #requested(request: LiveRequest): void {
    if ("leave" in request) return this.#leave(request.leave);
    const { follow: no, threadId, from } = request;
    if (this.#followed.has(no) || this.#followed.size >= MAX_FOLLOWED) throw new Error("It follows too much.");
    this.#followed.set(no, { threadId, stop: undefined });
    this.#watch(no, from);
  }

  #leave(no: number): void {
    this.#followed.get(no)?.stop?.();
    this.#followed.delete(no);
    this.#lagging.delete(no);
  }

  #watch(no: number, from?: LivePosition): void {
    const followed = this.#followed.get(no);
    if (!followed) return;
    this.#lagging.delete(no);
    const stop = this.#source.watch(followed.threadId, (frame) => this.#send(no, frame), from);
    if (!stop) return this.#send(no, { kind: "ended" });
    // The first frame may have been too much already.
    if (this.#followed.has(no) && !this.#lagging.has(no)) followed.stop = stop;
    else stop();
  }

  #send(no: number, frame: LiveFrame): void {
    if (!this.#followed.has(no) || this.#lagging.has(no)) return;
    if (this.#lines.waiting > MAX_WAITING) return this.#lag(no);
    const text = encode(frame);
    if (frame.kind === "ended" || text.length > MAX_FRAME_CHARS) {
      this.#leave(no);
      return this.#lines.send(`{"no":${no},"frame":{"kind":"ended"}}`);
    }
    this.#lines.send(`{"no":${no},"frame":${text}}`);
  }

  #lag(no: number): void {
    const followed = this.#followed.get(no);
    followed?.stop?.();
    if (followed) followed.stop = undefined;
    this.#lagging.add(no);
  }

  #watchLagging(): void {
    for (const no of Array.from(this.#lagging)) if (this.#lines.waiting <= MAX_WAITING) this.#watch(no);
  }

  #stopAll(): void {
    for (const { stop } of this.#followed.values()) stop?.();
    this.#followed.clear();
    this.#lagging.clear();
  }

  close(): void {
    this.#lines.close();
  }
}

function encode(frame: LiveFrame): string {
  const known = encoded.get(frame);
  if (known !== undefined) return known;
  const text = JSON.stringify(frame);
  encoded.set(frame, text);
  return text;
}
