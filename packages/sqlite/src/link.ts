import { Worker } from "node:worker_threads";
import { CinchError } from "@cinch/core";
import type { Failure, FromWriter, Outcome, ToWriter, Work, WriterOptions } from "./protocol.ts";

interface Pending {
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** How long after opening a file that needs nothing the writer is started, if nobody has asked for it by then. */
const LATE_MS = 50;

/** The main thread's end of the writer. The process stays alive for what it has asked, and for nothing else. */
export class Link {
  #options: WriterOptions | undefined;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #late: NodeJS.Timeout | undefined;
  #exited: Promise<void> = Promise.resolve();
  #dead: readonly [holder: string, counter: number][] = [];
  #failure: CinchError | undefined;
  #nextId = 1;

  /** Starts the thread, which takes longer than all else that makes a new store. It waits for `open`, and touches nothing until then. */
  boot(): void {
    this.#worker ??= this.#boot();
  }

  /** To be called once, before anything is asked. */
  open(options: WriterOptions): void {
    this.#options = options;
    if (this.#worker) this.#tell({ open: options });
  }

  /** Settles when the file has today's schema. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.set(0, { resolve: () => resolve(), reject });
      this.#started().ref();
    });
  }

  /** Starts the writer soon: who only reads is not kept waiting by it. What is wrong with it comes with the first request. */
  startLate(): void {
    if (!this.#worker) this.#late = setTimeout(() => this.#started(), LATE_MS).unref();
  }

  #started(): Worker {
    clearTimeout(this.#late);
    if (!this.#worker) {
      this.#worker = this.#boot();
      if (this.#options) this.#tell({ open: this.#options });
    }
    return this.#worker;
  }

  #tell(message: ToWriter): void {
    this.#worker?.postMessage(message, []);
  }

  #boot(): Worker {
    const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.cjs";
    // The writer imports nothing that depends on how this process was started.
    const worker = new Worker(new URL(file, import.meta.url), {
      name: "cinch-sqlite",
      execArgv: [],
    });
    this.#exited = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("error", (error) =>
      this.#fail(new CinchError("STORE_FAILED", `The writer of "${this.#options?.path}" died.`, error)),
    );
    worker.on("exit", () => this.#fail(new CinchError("CLOSED", "The store is closed. Open a new one.")));
    worker.on("message", (message: FromWriter) => this.#receive(message));
    worker.unref();
    return worker;
  }

  request(work: Work): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject });
      this.#started().ref();
      this.#tell({ id, work });
    });
  }

  /** Asks for a verdict on a holder, which comes later, if at all. */
  watch(holder: string): void {
    if (this.#failure) return;
    this.#started();
    this.#tell({ watch: holder });
  }

  isDead(holder: string, counter: number): boolean {
    return this.#dead.some(([id, count]) => id === holder && count === counter);
  }

  async close(): Promise<void> {
    clearTimeout(this.#late);
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
        return this.#fail(errorOf(message.failure));
      case "replies":
        for (const { id, outcome } of message.replies) this.#settle(id, outcome);
        return;
      case "verdicts":
        this.#dead = message.dead;
    }
  }

  #settle(id: number, outcome: Outcome): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if (outcome.kind === "failed") pending?.reject(errorOf(outcome.failure));
    else pending?.resolve(outcome);
  }

  #fail(error: CinchError): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    this.#worker?.unref();
  }
}

export const errorOf = ({ code, message, cause }: Failure): CinchError => new CinchError(code, message, cause);
