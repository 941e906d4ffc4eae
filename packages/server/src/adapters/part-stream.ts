import { setTimeout as delay } from "node:timers/promises";
import { encodeText } from "../feeds/frames.ts";
import { HEARTBEAT } from "../feeds/stream-comments.ts";

const COLLECT_MS = 16;

interface PartStreamPorts {
  /** Lists of parts, each as soon as it is there. */
  parts: AsyncGenerator<readonly object[], void, undefined>;
  /** The parts that end a stream whose server closes, or that failed. */
  failed(message: string): readonly object[];
  /** One part for two in a row. `null`: both are sent. */
  merged(last: object, next: object): object | null;
  /** What follows the last part. */
  trailer: string;
  /** Stops the parts. */
  stop(): void;
  /** Counts what is sent. */
  sent(bytes: number): void;
  left(): void;
}

/** A stream of JSON objects as server-sent events, in the format of another protocol. Parts are collected for a moment. */
export class PartStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #ports: PartStreamPorts;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #next: Promise<IteratorResult<readonly object[], void>> | undefined;
  #wasQuiet = false;
  #isOver = false;
  #bytes = 0;

  constructor(ports: PartStreamPorts) {
    this.#ports = ports;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#leave(),
      },
      { highWaterMark: 1 },
    );
  }

  /** How many bytes it was sent. */
  get bytes(): number {
    return this.#bytes;
  }

  beat(): void {
    if (this.#wasQuiet && !this.#isOver && (this.#controller.desiredSize ?? 0) > 0) this.#controller.enqueue(HEARTBEAT);
    this.#wasQuiet = true;
  }

  /** The server closes, or the caller has lost its access. */
  end(): void {
    this.#end(this.#ports.failed("The server has ended the stream. Resume it."));
  }

  async #pull(): Promise<void> {
    try {
      const { done, parts } = await this.#collected();
      if (this.#isOver) return;
      this.#wasQuiet = false;
      if (done) return this.#end(parts);
      this.#write(framesOf(parts));
    } catch {
      this.#end(this.#ports.failed("The stream has failed. Resume it."));
    }
  }

  /** Waits for the first parts, and then for a moment for others. */
  async #collected(): Promise<{ done: boolean; parts: object[] }> {
    const parts: object[] = [];
    const timer = new AbortController();
    let late: Promise<undefined> | undefined;
    try {
      for (;;) {
        this.#next ??= this.#ports.parts.next();
        const next = late ? await Promise.race([this.#next, late]) : await this.#next;
        if (!next) return { done: false, parts };
        this.#next = undefined;
        if (next.done) return { done: true, parts };
        for (const part of next.value) this.#add(parts, part);
        if (parts.length === 0) continue;
        late ??= delay(COLLECT_MS, undefined, { signal: timer.signal }).catch(() => undefined);
      }
    } finally {
      timer.abort();
    }
  }

  #add(parts: object[], part: object): void {
    const last = parts.at(-1);
    const merged = last && this.#ports.merged(last, part);
    if (merged) parts[parts.length - 1] = merged;
    else parts.push(part);
  }

  #end(parts: readonly object[]): void {
    if (this.#isOver) return;
    this.#write(framesOf(parts) + this.#ports.trailer);
    this.#controller.close();
    this.#leave();
  }

  #write(text: string): void {
    const chunk = encodeText(text);
    this.#bytes += chunk.length;
    this.#ports.sent(chunk.length);
    this.#controller.enqueue(chunk);
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ports.stop();
    this.#next?.catch(() => undefined);
    this.#ports.parts.return().catch(() => undefined);
    this.#ports.left();
  }
}

const framesOf = (parts: readonly object[]): string =>
  parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join("");
