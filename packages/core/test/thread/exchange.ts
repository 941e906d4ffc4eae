import type { Live, LiveFrame, LiveReader, LiveSource } from "@cinch/core";

/** What happens to frames on their way. */
export interface Faults {
  /** How long a frame takes. Frames stay in order. */
  delayMs?: () => number;
  /** How many times more a frame is delivered. */
  repeats?: () => number;
  /** A line on which more frames wait is a reader that lags: it begins again with what is shown. */
  capacity?: number;
}

/** The lines between processes, in memory. They can be cut, delayed and repeated. */
export class Exchange {
  readonly faults: Faults;
  readonly #sources = new Map<string, LiveSource>();
  readonly #lines = new Set<Line>();
  #isCut = false;
  #isHeld = Promise.resolve();
  /** How many lines were made. */
  connections = 0;

  constructor(faults: Faults = {}) {
    this.faults = faults;
  }

  /** What a process with this address has. */
  live(address: string): Live {
    return {
      open: async (source) => {
        this.#sources.set(address, source);
        return { address };
      },
      follow: (threadId, driver, reader) => {
        const line = new Line(this, { threadId, address: driver.address }, reader);
        this.#lines.add(line);
        line.connect();
        return () => {
          line.close();
          this.#lines.delete(line);
        };
      },
      close: async () => void this.#sources.delete(address),
    };
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Settles when frames may be delivered. */
  get passes(): Promise<void> {
    return this.#isHeld;
  }

  source(address: string): LiveSource | undefined {
    return this.#sources.get(address);
  }

  /** The process is gone, and does not even end its lines. */
  kill(address: string): void {
    this.#sources.delete(address);
    for (const line of this.#lines) if (line.address === address) line.cut();
  }

  cut(): void {
    this.#isCut = true;
    for (const line of this.#lines) line.cut();
  }

  mend(): void {
    this.#isCut = false;
    for (const line of this.#lines) line.connect();
  }

  /** No frame arrives until the returned function is called, and no end of a line notices. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#isHeld = promise;
    return resolve;
  }
}

/** A reader at a process. */
class Line {
  readonly address: string;
  readonly #exchange: Exchange;
  readonly #threadId: string;
  readonly #reader: LiveReader;
  #way: Promise<void> = Promise.resolve();
  #waiting = 0;
  #stop: (() => void) | undefined;
  #isConnected = false;
  /** Frames of an earlier connection are lost. */
  #connection = 0;

  constructor(exchange: Exchange, to: { threadId: string; address: string }, reader: LiveReader) {
    this.#exchange = exchange;
    this.address = to.address;
    this.#threadId = to.threadId;
    this.#reader = reader;
  }

  connect(): void {
    if (this.#isConnected || this.#exchange.isCut) return;
    const source = this.#exchange.source(this.address);
    if (!source) return;
    this.#isConnected = true;
    this.#exchange.connections++;
    this.#watch(source, this.#reader.position());
  }

  #watch(source: LiveSource, from: ReturnType<LiveReader["position"]>): void {
    const connection = ++this.#connection;
    this.#waiting = 0;
    this.#stop = source.watch(this.#threadId, (frame) => this.#send(frame, connection), from);
    if (!this.#stop) this.#send({ kind: "ended" }, connection);
  }

  #send(frame: LiveFrame, connection: number): void {
    const { capacity = Infinity, repeats = () => 0 } = this.#exchange.faults;
    const json = JSON.stringify(frame);
    const times = 1 + repeats();
    this.#waiting += times;
    for (let time = 0; time < times; time++) this.#way = this.#way.then(() => this.#deliver(json, connection));
    if (this.#waiting <= capacity) return;
    // What waits is dropped, and the reader begins again when it has read.
    this.#connection++;
    this.#stop?.();
    this.#way = this.#way.then(() => this.#watchAgain());
  }

  #watchAgain(): void {
    const source = this.#exchange.source(this.address);
    if (source && this.#isConnected) this.#watch(source, undefined);
  }

  async #deliver(json: string, connection: number): Promise<void> {
    const { delayMs } = this.#exchange.faults;
    if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs()));
    await this.#exchange.passes;
    if (connection !== this.#connection) return;
    this.#waiting--;
    this.#reader.read(JSON.parse(json) as LiveFrame);
  }

  cut(): void {
    const wasConnected = this.#isConnected;
    this.close();
    if (wasConnected) this.#reader.cut();
  }

  close(): void {
    this.#isConnected = false;
    this.#connection++;
    this.#stop?.();
    this.#stop = undefined;
  }
}
