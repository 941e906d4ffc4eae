/**
 * Starts the writers of SQLite stores from one file, as a published store does. Tests open many stores, and most of the time that this
 * takes is the start of the writer's thread. So a writer gets the thread of one that was closed, except where tests are about the thread.
 * No two writers share a thread at a time, and each evaluates its code anew.
 */
import { EventEmitter, once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import threads, { type MessagePort, type Worker as Thread } from "node:worker_threads";

const HOST = join(import.meta.dirname, "writer-host.ts");
const { Worker, MessageChannel } = threads;
/** Threads whose writer is closed. */
const idle: Thread[] = [];
const MAX_IDLE = 8;

/** Must be called before a test imports the store. */
export function startWritersFrom(bundle: string, { reuse }: { reuse: boolean }): void {
  const source = pathToFileURL(resolve("packages/sqlite/src/worker.ts")).href;
  threads.Worker = new Proxy(Worker, {
    construct(target, [file, options]) {
      if (String(file) !== source) return new target(file, options);
      return reuse ? new ReusedWorker(bundle) : new target(bundle, options);
    },
  });
  syncBuiltinESMExports();
}

/** What `WriterClient` uses of a worker. */
class ReusedWorker extends EventEmitter {
  readonly #port: MessagePort;
  readonly #exited: Promise<unknown>;

  constructor(bundle: string) {
    super();
    const thread = idle.pop() ?? new Worker(HOST, { workerData: bundle, execArgv: [] });
    thread.unref();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#exited = this.#follow(thread);
    port1.on("message", (message) => this.emit("message", message));
    thread.postMessage(port2, [port2]);
  }

  postMessage(...message: Parameters<MessagePort["postMessage"]>): void {
    this.#port.postMessage(...message);
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }

  async terminate(): Promise<void> {
    this.#port.close();
    await this.#exited;
  }

  /** The writer has ended when its thread has said so, or is gone, and all messages of the writer have arrived. */
  async #follow(thread: Thread): Promise<void> {
    const fail = (error: unknown) => this.emit("error", error);
    const ended = Promise.withResolvers<void>();
    const leave = () => {
      this.#port.close();
      ended.resolve();
    };
    thread.on("error", fail).on("message", ended.resolve).on("exit", leave);
    await Promise.all([ended.promise, once(this.#port, "close")]);
    thread.off("error", fail).off("message", ended.resolve).off("exit", leave);
    if (thread.threadId > 0 && idle.length < MAX_IDLE) idle.push(thread);
    else await thread.terminate();
    this.emit("exit", 0);
  }
}
