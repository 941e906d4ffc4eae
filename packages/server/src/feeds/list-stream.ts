import type { ThreadListChange } from "@cinch/core";
import type { Metrics } from "../observe/metrics.ts";
import { encodeText } from "./frames.ts";
import { GOODBYE, HEARTBEAT } from "./stream-comments.ts";

interface ListStreamPorts {
  changes: AsyncIterableIterator<ThreadListChange>;
  metrics: Metrics;
  left(): void;
}

/** The changes of a list of threads, as a stream. Changes that its connection does not take wait in the store, which merges them. */
export class ListStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #ports: ListStreamPorts;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #wasQuiet = false;
  #isOver = false;
  #bytes = 0;

  constructor(ports: ListStreamPorts) {
    this.#ports = ports;
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        // A client learns at once that it is connected, and asks for the list after that.
        this.#write(HEARTBEAT);
      },
      pull: () => this.#next(),
      cancel: () => this.#leave(),
    });
  }

  /** How many bytes it was sent. */
  get bytes(): number {
    return this.#bytes;
  }

  beat(): void {
    if (this.#wasQuiet && !this.#isOver && (this.#controller.desiredSize ?? 0) > 0) this.#write(HEARTBEAT);
    this.#wasQuiet = true;
  }

  end(): void {
    if (this.#isOver) return;
    this.#write(GOODBYE);
    this.#controller.close();
    this.#leave();
  }

  async #next(): Promise<void> {
    // A store that fails ends the stream: the client returns, and asks for the list again.
    const { done, value } = await this.#ports.changes.next().catch(() => ({ done: true, value: undefined }));
    if (this.#isOver) return;
    if (done) return this.end();
    this.#wasQuiet = false;
    this.#write(encodeText(`data: ${JSON.stringify(value)}\n\n`));
  }

  #write(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#ports.metrics.sent(chunk.length);
    this.#controller.enqueue(chunk);
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ports.changes.return?.().catch(() => undefined);
    this.#ports.left();
  }
}
