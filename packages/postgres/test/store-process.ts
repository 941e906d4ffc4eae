import { fork } from "node:child_process";
import { once } from "node:events";
import { CinchError, type DurableEvent, type ErrorCode, type Store } from "@cinch/core";
import { ThreadChanges, type ThreadListChange } from "@cinch/core/store";
import type { PostgresOptions } from "@cinch/postgres";
import { bundle } from "../../testkit/test/bundle.ts";

const program = await bundle(new URL("./programs/store-host.ts", import.meta.url));

interface Answer {
  id: number;
  value?: unknown;
  failure?: { code: ErrorCode; message: string };
  changed?: boolean;
  seq?: number;
  events?: DurableEvent[];
  change?: ThreadListChange;
}

/** Others find a holder dead whose beat they miss for 3 s. */
const PAUSED_MS = 1_000;
const MOST_TRIES = 5;

type Changed = Parameters<Store["follow"]>[1];

interface Waiting {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  changed?: Changed;
  changes?: ThreadChanges;
}

/** Another process, which has stores on the same database. */
export class StoreProcess {
  readonly #process;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #nextStore = 1;

  /** `imports`: modules that the process loads first. */
  constructor({ imports = [] }: { imports?: readonly URL[] } = {}) {
    const execArgv = imports.map(({ href }) => `--import=${href}`);
    this.#process = fork(program, [], { execArgv, serialization: "advanced" });
    this.#process.on("message", (answer: Answer) => this.#answered(answer));
    this.#process.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the process is dead"));
      this.#waiting.clear();
    });
  }

  /** A store in that process. */
  async store(options: PostgresOptions): Promise<Store> {
    const number = this.#nextStore++;
    await this.#call(number, "make", [options]).answer;
    const methods: ProxyHandler<Store> = {
      get: (_, method: keyof Store & string) => {
        if (method === "follow") return this.#follow.bind(this, number);
        if (method === "followThreads") return this.#followThreads.bind(this, number);
        if ((method as string) === "then") return undefined;
        return (...args: unknown[]) => this.#call(number, method, args).answer;
      },
    };
    const store = new Proxy({} as Store, methods);
    await store.open();
    return store;
  }

  /** The longest time for which the process did not run, since it started or since the last call. */
  async longestPause(): Promise<number> {
    return (await this.#call(0, "longestPause", []).answer) as number;
  }

  /** The first result for which this process was not paused meanwhile: others may rightly find a holder dead that a busy machine pauses. */
  async unpaused<T>(observe: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const result = await observe();
      if ((await this.longestPause()) < PAUSED_MS || tries === MOST_TRIES) return result;
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }

  close = (): Promise<void> => this.kill();

  #call(store: number, method: string, args: unknown[]): { id: number; waiting: Waiting; answer: Promise<unknown> } {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiting: Waiting = { resolve, reject };
    this.#waiting.set(id, waiting);
    // Without a listener here, a process that has died would end this one.
    this.#process.send({ id, store, method, args }, (error) => error && reject(new Error("the process is dead")));
    return { id, waiting, answer: promise };
  }

  #follow(store: number, threadId: string, changed: Changed): () => void {
    const { id, waiting, answer } = this.#call(store, "follow", [threadId]);
    waiting.changed = changed;
    answer.catch(() => undefined);
    return () => {
      waiting.changed = undefined;
      this.#call(store, "unfollow", [id]).answer.catch(() => undefined);
    };
  }

  #followThreads(store: number, resourceId: string): ThreadChanges {
    const { id, waiting, answer } = this.#call(store, "followThreads", [resourceId]);
    const changes = new ThreadChanges(() => this.#call(store, "unfollow", [id]).answer.catch(() => undefined));
    waiting.changes = changes;
    answer.then(
      () => changes.end(),
      () => changes.end(),
    );
    return changes;
  }

  #answered({ id, value, failure, changed, seq, events, change }: Answer): void {
    const waiting = this.#waiting.get(id);
    if (changed) return waiting?.changed?.(seq, events);
    if (change) return waiting?.changes?.push(change);
    if (!waiting?.changed) this.#waiting.delete(id);
    if (failure) waiting?.reject(new CinchError(failure.code, failure.message));
    else waiting?.resolve(value);
  }
}
