import { Worker } from "node:worker_threads";
import { CinchError } from "@cinch/core";
import type { Failure, FromWriter, Instruction, WorkOutcome, ToWriter, Work, WriterOptions } from "./protocol.ts";
import { storeClosed, toCinchError } from "./store-error.ts";

interface Pending {
  resolve(outcome: WorkOutcome): void;
  reject(error: Error): void;
}

/** How long after the opening of an up-to-date file the writer starts, if no request has started it by then. */
const DEFERRED_START_MS = 50;

/** The main thread's side of the writer. Only a pending request keeps the process alive. */
export class WriterClient {
  readonly #path: string;
  #options: WriterOptions | undefined;
  readonly #pending = new Map<number, Pending>();
  #unsent: Instruction[] = [];
  #worker: Worker | undefined;
  #deferredStart: NodeJS.Timeout | undefined;
  #exited: Promise<void> = Promise.resolve();
  #dead: readonly [holder: string, counter: number][] = [];
  #failure: CinchError | undefined;
  #nextId = 1;

  constructor(path: string) {
    this.#path = path;
  }

  /** Starts the worker thread, which is the slowest part of creating a store. The worker does nothing until `open`. */
  prestart(): void {
    this.#worker ??= this.#startWorker();
  }

  /** Must be called once, before the first request. */
  open(options: WriterOptions): void {
    this.#options = options;
    if (this.#worker) this.#post({ open: options });
  }

  /** Settles when the file has the current schema. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#pending.set(0, { resolve: () => resolve(), reject });
      this.#ensureWorker().ref();
    });
  }

  /** Starts the writer a little later, so that it does not slow down the first reads. The first request reports its failure. */
  startDeferred(): void {
    if (!this.#worker) this.#deferredStart = setTimeout(() => this.#ensureWorker(), DEFERRED_START_MS).unref();
  }

  #ensureWorker(): Worker {
    clearTimeout(this.#deferredStart);
    if (!this.#worker) {
      this.#worker = this.#startWorker();
      if (this.#options) this.#post({ open: this.#options });
    }
    return this.#worker;
  }

  #post(message: ToWriter): void {
    this.#worker?.postMessage(message, []);
  }

  /** What is requested before this thread is done with its current work is sent as one message: to wake the writer costs more than to write. */
  #send(instruction: Instruction): void {
    if (this.#unsent.push(instruction) > 1) return;
    process.nextTick(() => {
      const instructions = this.#unsent;
      this.#unsent = [];
      this.#postAll(instructions);
    });
  }

  /** A request that can't be copied for the writer fails alone. */
  #postAll(instructions: readonly Instruction[]): void {
    try {
      this.#post({ instructions });
    } catch (error) {
      const [first] = instructions;
      if (instructions.length > 1) for (const one of instructions) this.#postAll([one]);
      else if (first && "id" in first) this.#settle(first.id, { kind: "failed", failure: this.#notCopied(error) });
    }
  }

  #notCopied(error: unknown): Failure {
    const message = `A request to the writer of "${this.#path}" can't be copied. Give blobs whose buffers were not transferred elsewhere.`;
    return { code: "INVALID_INPUT", message, cause: String(error) };
  }

  #startWorker(): Worker {
    const isSource = import.meta.url.endsWith(".ts");
    const worker = new Worker(new URL(isSource ? "./worker.ts" : "./worker.cjs", import.meta.url), {
      name: "cinch-sqlite",
      // The worker needs no other flag of this process.
      execArgv: isSource ? ["-C", "@cinch/source"] : [],
    });
    this.#exited = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("error", (error) =>
      this.#fail(
        new CinchError(
          "STORE_FAILED",
          `The writer of "${this.#path}" crashed. Close the store and open it again.`,
          error,
        ),
      ),
    );
    worker.on("exit", () => this.#fail(storeClosed()));
    worker.on("message", (message: FromWriter) => this.#receive(message));
    worker.unref();
    return worker;
  }

  request(work: Work): Promise<WorkOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject });
      this.#ensureWorker().ref();
      this.#send({ id, work });
    });
  }

  /** Another number whenever a connection other than the writer's has committed. `null`: it can't be read now. */
  async othersVersion(): Promise<number | null> {
    const outcome = await this.request({ kind: "others" }).catch(() => null);
    return outcome?.kind === "others" ? outcome.version : null;
  }

  /** Asks the writer to observe a holder. If it turns out to be dead, `isDead` says so later. */
  watch(holder: string): void {
    if (this.#failure) return;
    this.#ensureWorker();
    this.#send({ watch: holder });
  }

  isDead(holder: string, counter: number): boolean {
    return this.#dead.some(([id, count]) => id === holder && count === counter);
  }

  async close(): Promise<void> {
    clearTimeout(this.#deferredStart);
    if (!this.#worker) return;
    if (!this.#options) await this.#worker.terminate();
    else if (!this.#failure) await this.request({ kind: "close" });
    this.#worker.ref();
    await this.#exited;
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case "ready":
        return this.#settle(0, { kind: "done" });
      case "unusable":
        return this.#fail(toCinchError(message.failure));
      case "replies":
        for (const { id, outcome } of message.replies) this.#settle(id, outcome);
        return;
      case "verdicts":
        this.#dead = message.dead;
    }
  }

  #settle(id: number, outcome: WorkOutcome): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if (outcome.kind === "failed") pending?.reject(toCinchError(outcome.failure));
    else pending?.resolve(outcome);
  }

  #fail(error: CinchError): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    this.#worker?.unref();
  }
}
