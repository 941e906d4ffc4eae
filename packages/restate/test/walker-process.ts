import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { PostgresOptions } from "@cinch/postgres";
import type { RestateOptions } from "@cinch/restate";
import { bundle } from "../../testkit/test/bundle.ts";
import type { Ran } from "./walker-harness.ts";

/** What a process is started with. */
export interface WalkerOptions {
  by: string;
  role: "worker" | "front";
  store: PostgresOptions;
  engine: RestateOptions | "graphile";
}

/** What the test asks of a process. `approve`: the calls that wait in these threads, all at once. */
export type WalkerOrder =
  | { order: "post"; threadId: string; content: string }
  | { order: "approve"; threadIds: string[] }
  | { order: "driven" }
  | { order: "use" };

/** What a process has of its machine. */
export interface WalkerUse {
  heapBytes: number;
  timers: number;
}

/** What a process sends to the test. `served`: when it began to serve, by its clock. `statuses`: of the threads after the answers. */
export type WalkerReport =
  | { ran: Ran }
  | { served: number }
  | { posted: true }
  | { statuses: string[] }
  | { driven: number }
  | { use: WalkerUse };

/** A worker or a front in a process of its own. */
export class WalkerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #ran: (run: Ran) => void;
  #answer: ((report: WalkerReport) => void) | undefined;

  private constructor(child: ChildProcess, ran: (run: Ran) => void) {
    this.#child = child;
    this.#exited = once(child, "exit");
    this.#ran = ran;
    child.on("message", (report: WalkerReport) => this.#reported(report));
  }

  /** Settles when it serves. */
  static async start(
    options: WalkerOptions,
    ran: (run: Ran) => void,
  ): Promise<{ walker: WalkerProcess; served: number }> {
    const program = await bundle(new URL("./programs/walker.ts", import.meta.url));
    const walker = new WalkerProcess(fork(program, [JSON.stringify(options)], { execArgv: ["--expose-gc"] }), ran);
    const report = await walker.#next();
    if (!("served" in report)) throw new Error(`The process "${options.by}" did not start.`);
    return { walker, served: report.served };
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async ask(order: WalkerOrder): Promise<WalkerReport> {
    // A process that has ended is seen by its exit.
    this.#child.send(order, () => undefined);
    return this.#next();
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isAlive) this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#exited;
  }

  #next(): Promise<WalkerReport> {
    const { promise, resolve, reject } = Promise.withResolvers<WalkerReport>();
    this.#answer = resolve;
    const ended = () => reject(new Error("The process has ended."));
    this.#exited.then(ended, ended);
    return promise;
  }

  #reported(report: WalkerReport): void {
    if ("ran" in report) this.#ran(report.ran);
    else this.#answer?.(report);
  }
}
