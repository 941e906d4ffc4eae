import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import type { DriveOutcome, Placement } from "@cinch/core";

/** To the other process: a call of one of its placements, or how a drive has ended. */
export type ToHost =
  | { kind: "call"; id: number; placement: number; method: "make" | Method; arg?: unknown }
  | { kind: "driven"; id: number; outcome?: DriveOutcome; failure?: string };

/** From the other process: the end of a call, or a thread for the worker here that plays the worker there. */
export type FromHost =
  | { kind: "answer"; id: number; failure?: string }
  | { kind: "drive"; id: number; placement: number; threadId: string };

export type Method = "serve" | "wake" | "drain" | "close";
type Worker = (threadId: string) => Promise<DriveOutcome>;

/** Another process, with placements in it. What they bring to that process is answered by workers in this one. */
export class PlacementProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(): void; reject(reason: Error): void }>();
  readonly #workers = new Map<number, Worker>();
  #nextId = 1;
  #nextPlacement = 1;

  constructor(file: string) {
    // Sources need the flags of this process, but not its options as a test runner.
    const execArgv = process.execArgv.filter((arg) => !arg.startsWith("--test"));
    this.#child = fork(file, [], { execArgv, serialization: "advanced" });
    this.#child.on("message", (message: FromHost) => this.#received(message));
    this.#child.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The process of the placement is dead."));
      this.#waiting.clear();
    });
  }

  async placement(data: unknown): Promise<Placement> {
    const placement = this.#nextPlacement++;
    const call = (method: Method, arg?: unknown) => this.#call(placement, method, arg);
    await this.#call(placement, "make", data);
    return {
      serve: (worker) => {
        this.#workers.set(placement, worker);
        return call("serve");
      },
      wake: (threadId) => call("wake", threadId),
      drain: () => call("drain"),
      close: () => call("close"),
    };
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.signal("SIGKILL");
    await exited;
  }

  #call(placement: number, method: "make" | Method, arg?: unknown): Promise<void> {
    if (!this.#child.connected) return Promise.reject(new Error("The process of the placement is dead."));
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.set(id, { resolve, reject });
    this.#send({ kind: "call", id, placement, method, arg });
    return promise;
  }

  #received(message: FromHost): void {
    if (message.kind === "drive") {
      const { id, placement, threadId } = message;
      this.#workers.get(placement)!(threadId).then(
        (outcome) => this.#send({ kind: "driven", id, outcome }),
        (error: Error) => this.#send({ kind: "driven", id, failure: error.message }),
      );
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.failure === undefined) waiting?.resolve();
    else waiting?.reject(new Error(message.failure));
  }

  /** A process that dies while it is sent something is seen by its exit. */
  #send(message: ToHost): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}
