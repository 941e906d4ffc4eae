import type { Duplex } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** How often each end shows that it is alive, and when the other one is taken for dead. */
const BEAT_MS = 1_000;
const DEAD_MS = 4_000;

interface LineHandlers {
  /** Throws if the line is not what it should be: then the socket is destroyed. */
  line(text: string): void;
  closed(): void;
}

/** Lines of text over a socket, both ways. An empty line is a beat. It closes when the other end is silent for too long. */
export class LineSocket {
  readonly #socket: Duplex;
  readonly #handlers: LineHandlers;
  readonly #maxChars: number;
  #begun = "";
  #unsent: string[] = [];
  #unsentChars = 0;
  #isFlushDue = false;
  #heardAt = performance.now();
  #tickAt = performance.now();
  #isClosed = false;
  readonly #timer: NodeJS.Timeout;

  constructor(socket: Duplex, { maxChars, head }: { maxChars: number; head: Buffer }, handlers: LineHandlers) {
    this.#socket = socket;
    this.#maxChars = maxChars;
    this.#handlers = handlers;
    this.#timer = setInterval(() => this.#beat(), BEAT_MS).unref();
    socket.on("error", () => this.close());
    socket.on("close", () => this.close());
    socket.on("end", () => this.close());
    if (head.length > 0) socket.unshift(head);
    // A character may be cut between two chunks.
    const decoder = new StringDecoder("utf8");
    socket.on("data", (chunk: Buffer) => this.#received(decoder.write(chunk)));
  }

  /** About how many bytes wait to be sent. */
  get waiting(): number {
    return this.#unsentChars + this.#socket.writableLength;
  }

  /** Lines of one tick are written together. */
  send(line: string): void {
    if (this.#isClosed) return;
    this.#unsent.push(line);
    this.#unsentChars += line.length + 1;
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushDue = false;
    const lines = this.#unsent;
    this.#unsent = [];
    this.#unsentChars = 0;
    if (!this.#isClosed && lines.length > 0) this.#socket.write(`${lines.join("\n")}\n`);
  }

  onDrain(callback: () => void): void {
    this.#socket.on("drain", callback);
  }

  #beat(): void {
    const now = performance.now();
    // This process was stopped or busy: what the other end has sent meanwhile is not read yet.
    if (now - this.#tickAt > 2 * BEAT_MS) this.#heardAt = now;
    this.#tickAt = now;
    if (now - this.#heardAt > DEAD_MS) return this.close();
    // A reader that does not read gets no beats either: they would only wait.
    if (this.waiting === 0) this.#socket.write("\n");
  }

  #received(text: string): void {
    this.#heardAt = performance.now();
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0 && !this.#isClosed; end = text.indexOf("\n", from)) {
      const line = this.#begun + text.slice(from, end);
      this.#begun = "";
      from = end + 1;
      if (line !== "") this.#handle(line);
    }
    this.#begun += text.slice(from);
    if (this.#begun.length > this.#maxChars) this.close();
  }

  #handle(line: string): void {
    try {
      if (line.length > this.#maxChars) throw new Error("The line is too long.");
      this.#handlers.line(line);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#socket.destroy();
    this.#handlers.closed();
  }
}
