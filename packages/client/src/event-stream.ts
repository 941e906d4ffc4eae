import type { CinchError } from "@cinch/core/remote";
import { pause } from "./pause.ts";
import { eachChunk, isOf, mayRetry, wholeOf, type Wire } from "./wire.ts";

/** A stream says something at once. If it does not, something in between collects it. */
const FIRST_BYTE_MS = 10_000;
const POLL_SECONDS = 25;
/** A client that polls tries a stream from time to time: the network may be another one. */
const STREAM_AGAIN_MS = 300_000;
const CAN_NOT_STREAM = typeof ReadableStream === "undefined";
const TOO_MANY_STREAMS = "TOO_MANY";

export interface StreamPorts {
  /** The stream is at `/events` below it. */
  readonly path: string;
  /** Whether the stream has to bring the changes of the list of threads, too. */
  list?(): true | undefined;
  /** The last event that was taken. */
  since(): number | undefined;
  /** What streams is asked for often. */
  isBusy(): boolean;
  /** Another stream has brought the same before. Then an error that may pass ends this one no more than that one. */
  wasConnected?(): boolean;
  /** A new connection begins: what it sends follows on `since`. */
  connected(): unknown;
  /** Asks for what is new where streams do not arrive; default: for events, at the path of the stream. */
  poll?(): Promise<void>;
  /** Throws for an event that does not follow on the last one. */
  take(event: object): void;
  /** Nothing comes: the server fails, does not know the token any more, or a proxy refuses. It is tried again until `connected`. */
  failed?(error: CinchError): void;
  /** The server refuses the stream for good. */
  refused(error: CinchError): void;
}

/** The events of one path, from a stream, or by asking again and again where streams do not arrive. Reconnects by itself. */
export class EventStream {
  readonly #wire: Wire;
  readonly #ports: StreamPorts;
  readonly #closing = new AbortController();
  #isPolling = CAN_NOT_STREAM;
  /** The caller has as many streams and polls as it may: what is new is asked for without waiting. */
  #isCrowded = false;
  /** Nothing came of the stream, although the server may have sent it. */
  #isSilent = false;
  #streamedAt = 0;
  #wasConnected = false;
  /** Since something came last. */
  #failures = 0;

  constructor(wire: Wire, ports: StreamPorts) {
    this.#wire = wire;
    this.#ports = ports;
    this.#run().catch((error: unknown) => ports.refused(error as CinchError));
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const before = this.#ports.since();
      try {
        await this.#connect();
        this.#wasConnected = true;
        // The next try shows whether the caller may have a stream again.
        if (this.#isCrowded) this.#isPolling = CAN_NOT_STREAM;
        this.#isCrowded = false;
        // Something in between may answer at once, with nothing new.
        if (this.#isPolling && this.#ports.since() !== before) continue;
      } catch (error) {
        const wasConnected = this.#wasConnected || this.#ports.wasConnected?.();
        if (!mayRetry(error, wasConnected) && !signal.aborted) throw error;
        if (!mayRetry(error)) this.#ports.failed?.(error as CinchError);
        this.#isCrowded = isOf(error, TOO_MANY_STREAMS);
        this.#isPolling = this.#isCrowded || (!this.#isPolling && this.#isSilent);
      }
      await pause(this.#failures++, [this.#wire.closed, signal]);
    }
  }

  /** Settles when the connection ends. */
  #connect(): Promise<void> {
    const ports = this.#ports;
    const path = `${ports.path}/events`;
    const query = { since: ports.since(), list: ports.list?.() };
    const { signal } = this.#closing;
    this.#isSilent = false;
    if (Date.now() - this.#streamedAt > STREAM_AGAIN_MS && !ports.isBusy()) this.#isPolling = CAN_NOT_STREAM;
    if (this.#isPolling && ports.poll) return ports.poll();
    if (this.#isPolling) {
      const seconds = ports.isBusy() ? 1 : POLL_SECONDS;
      const wait = this.#isCrowded ? 0 : seconds;
      const poll = { path, query: { ...query, wait }, signal, accept: "application/json" };
      return this.#wire.attempt(poll, async (response, alive) => {
        const events = JSON.parse(await (await wholeOf(response, alive)).text()) as object[];
        this.#begun();
        for (const event of events) ports.take(event);
      });
    }
    this.#streamedAt = Date.now();
    let isFirst = true;
    const late = () => (this.#isSilent = isFirst);
    const stream = {
      path,
      query,
      signal,
      accept: "text/event-stream",
      firstByteMs: FIRST_BYTE_MS,
      late,
    };
    return this.#wire.attempt(stream, ({ body }, alive) =>
      this.#streamed(body, () => {
        alive();
        if (isFirst) this.#begun();
        isFirst = false;
      }),
    );
  }

  #begun(): void {
    if (!this.#isCrowded || this.#ports.isBusy()) this.#failures = 0;
    this.#wasConnected = true;
    this.#ports.connected();
  }

  async #streamed(body: Response["body"], alive: () => void): Promise<void> {
    if (!body) {
      this.#isSilent = true;
      throw new TypeError("No body.");
    }
    const decoder = new TextDecoder();
    let rest = "";
    await eachChunk(body, (chunk) => {
      alive();
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        // Neither `.` nor the flag "m": for both, U+2028 ends a line, and a text in JSON may have it.
        const data = /(?:^|\n)data: ([^\n]*)/.exec(block)?.[1];
        if (data !== undefined) this.#ports.take(JSON.parse(data) as object);
      }
    });
  }
}
