import { setTimeout as sleep } from "node:timers/promises";
import type { Sink } from "../shells/shell.ts";
import type { PipeReader } from "./pipes.ts";

/** Once a command is gone, its output is over when this many looks in a row find that nothing comes. */
const LOOKS = 10;
const LOOK_MS = 25;
/** How long a sink may keep a command that was stopped waiting. */
const PATIENCE_MS = 500;

/** Takes what a command prints to the sink, one piece at a time. */
export class Outlet {
  readonly #sink: Sink;
  readonly #onFailure: () => void;
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #pieces = 0;
  #failed = false;

  constructor(sink: Sink, onFailure: () => void) {
    this.#sink = sink;
    this.#onFailure = onFailure;
  }

  drain(reader: PipeReader, name: "stdout" | "stderr"): Promise<void> {
    return reader.read((chunk) => this.#give(chunk, name));
  }

  async print(bytes: Uint8Array, name: "stdout" | "stderr"): Promise<void> {
    if (bytes.length > 0) await this.#give(bytes, name);
  }

  /**
   * Settles with `streams`, or when there is no use in waiting for them: somebody whom nobody found holds them open and says nothing,
   * or the command was stopped and the sink does not take the rest. A sink that is only slow gets everything.
   */
  async finish(streams: Promise<unknown>, stop: AbortSignal): Promise<void> {
    const over = new AbortController();
    const given = async () => {
      let quiet = 0;
      let patience = PATIENCE_MS;
      // Looks, not a length of time: while this process was busy, nothing could come.
      while (quiet < LOOKS && patience > 0) {
        const seen = this.#pieces;
        await sleep(LOOK_MS, undefined, { signal: over.signal });
        if (stop.aborted) patience -= LOOK_MS;
        quiet = this.#waiting === 0 && this.#pieces === seen ? quiet + 1 : 0;
      }
    };
    // Told to stop looking, it rejects, which is nobody's concern.
    await Promise.race([streams, given().catch(() => {})]);
    over.abort();
  }

  #give(chunk: Uint8Array, name: "stdout" | "stderr"): Promise<void> {
    this.#pieces += 1;
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
    this.#turn = this.#turn.then(give);
    return this.#turn;
  }
}
