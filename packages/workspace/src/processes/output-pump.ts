import { setTimeout as sleep } from "node:timers/promises";
import type { Sink } from "../shells/shell.ts";
import type { PipeReader } from "./pipes.ts";

type StreamName = "stdout" | "stderr";

/** After the end of a command, its output is complete when this many polls in a row find nothing new. */
const QUIET_POLLS = 10;
const POLL_MS = 25;
/** How long a sink may delay the end of a command that was stopped. */
const STOPPED_MS = 500;

/** Gives the output of a command to the sink, one chunk at a time. */
export class OutputPump {
  readonly #sink: Sink;
  readonly #onFailure: () => void;
  #queue: Promise<void> = Promise.resolve();
  #waiting = 0;
  #chunks = 0;
  #failed = false;

  constructor(sink: Sink, onFailure: () => void) {
    this.#sink = sink;
    this.#onFailure = onFailure;
  }

  drain(reader: PipeReader, name: StreamName): Promise<void> {
    return reader.read((chunk) => this.#give(chunk, name));
  }

  async print(bytes: Uint8Array, name: StreamName): Promise<void> {
    if (bytes.length > 0) await this.#give(bytes, name);
  }

  /**
   * Settles with `streams`, or earlier if an unknown process holds them open and prints nothing, or if the command was stopped and the
   * sink does not take the rest. A slow sink gets everything.
   */
  async finish(streams: Promise<unknown>, stop: AbortSignal): Promise<void> {
    const done = new AbortController();
    const untilQuiet = async () => {
      let quiet = 0;
      let left = STOPPED_MS;
      // Counts polls instead of time: while this process was busy, nothing could arrive.
      while (quiet < QUIET_POLLS && left > 0) {
        const before = this.#chunks;
        await sleep(POLL_MS, undefined, { signal: done.signal });
        if (stop.aborted) left -= POLL_MS;
        quiet = this.#waiting === 0 && this.#chunks === before ? quiet + 1 : 0;
      }
    };
    // Rejects only when `done` ends the polling.
    await Promise.race([streams, untilQuiet().catch(() => {})]);
    done.abort();
  }

  #give(chunk: Uint8Array, name: StreamName): Promise<void> {
    this.#chunks += 1;
    this.#waiting += 1;
    const give = async () => {
      try {
        if (!this.#failed) await this.#sink(chunk, name);
      } catch {
        this.#failed = true;
        this.#onFailure();
      } finally {
        this.#waiting -= 1;
      }
    };
    this.#queue = this.#queue.then(give);
    return this.#queue;
  }
}
