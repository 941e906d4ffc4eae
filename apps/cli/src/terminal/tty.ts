import { constants, openSync, writeSync } from "node:fs";
import type { ReadStream, WriteStream } from "node:tty";
import type { Size, TerminalInput, TerminalOutput } from "./terminal-port.ts";

const RETRY_MS = 5;
/** The last bytes of a process wait so long for a terminal that is full. */
const LAST_BYTES_MS = 1_000;

interface TtyOutputOptions {
  /** The terminal is gone. */
  onError: (error: Error) => void;
}

/**
 * Not by the stream of Node: that blocks the process while the terminal is full, and with it the keyboard. All bytes go through one
 * place, so the last ones can't overtake a frame.
 */
export class TtyOutput implements TerminalOutput {
  readonly #stream: WriteStream & { fd: number };
  readonly #options: TtyOutputOptions;
  readonly #fd: number;
  /** What the terminal has not taken yet. */
  #rest: Buffer = Buffer.alloc(0);
  #isMeasuring = false;

  constructor(stream: WriteStream & { fd: number }, options: TtyOutputOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#fd = unblocked(stream.fd);
    process.on("SIGCONT", () => this.#measure());
  }

  size(): Size {
    return { columns: this.#stream.columns, rows: this.#stream.rows };
  }

  write(bytes: string, done: () => void): void {
    this.#rest = Buffer.concat([this.#rest, Buffer.from(bytes)]);
    this.#continue(done);
  }

  writeNow(bytes: string): void {
    this.#rest = Buffer.concat([this.#rest, Buffer.from(bytes)]);
    const until = performance.now() + LAST_BYTES_MS;
    const clock = new Int32Array(new SharedArrayBuffer(4));
    while (!this.#isEmpty() && performance.now() < until) Atomics.wait(clock, 0, 0, RETRY_MS);
  }

  onResize(listener: () => void): () => void {
    // Not the event of the stream: it does not report a terminal that was resized and back in one tick, and lost rows by that.
    const resized = () => {
      if (!this.#isMeasuring) listener();
    };
    process.on("SIGWINCH", resized);
    return () => process.off("SIGWINCH", resized);
  }

  /** Node reads the size at SIGWINCH, which a stopped process does not get. What draws when it continues must not do so before. */
  #measure(): void {
    this.#isMeasuring = true;
    process.emit("SIGWINCH", "SIGWINCH");
    this.#isMeasuring = false;
  }

  #continue(done: () => void): void {
    if (this.#isEmpty()) done();
    else setTimeout(() => this.#continue(done), RETRY_MS);
  }

  /** Writes what the terminal takes without waiting. */
  #isEmpty(): boolean {
    try {
      while (this.#rest.length > 0) this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return false;
      this.#rest = Buffer.alloc(0);
      this.#options.onError(error as Error);
    }
    return true;
  }
}

/** The terminal, opened a second time: other programs share the first, and must not see it change. */
function unblocked(fd: number): number {
  try {
    const path = process.platform === "linux" ? `/proc/self/fd/${fd}` : "/dev/tty";
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // Of another user, or on Windows: then a full terminal blocks.
    return fd;
  }
}

export function ttyInput(stream: ReadStream): TerminalInput {
  return {
    setRaw: (raw) => void stream.setRawMode(raw),
    onBytes(listener) {
      stream.on("data", listener);
      stream.resume();
      return () => {
        stream.off("data", listener);
        stream.pause();
      };
    },
  };
}
