import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import type { MemberOptions } from "./member-options.ts";

/** A worker or a front, which can be killed, stopped and started again. */
export class MemberProcess {
  readonly name: string;
  readonly #program: string;
  readonly #options: MemberOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  constructor(name: string, program: string, options: MemberOptions) {
    this.name = name;
    this.#program = program;
    this.#options = options;
  }

  get role(): MemberOptions["role"] {
    return this.#options.role;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** The code with which it ended by itself. */
  get exitCode(): number | null | undefined {
    return this.#child?.exitCode;
  }

  async start(): Promise<void> {
    const log = openSync(`${this.#options.folder}/${this.name}.log`, "a");
    const child = fork(this.#program, [JSON.stringify(this.#options)], {
      execArgv: [],
      stdio: ["ignore", log, log, "ipc"],
    });
    this.#child = child;
    this.#exited = once(child, "exit");
    await Promise.race([once(child, "message"), this.#exited]);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isAlive) this.#child!.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#exited;
  }

  ended(): Promise<unknown> {
    return this.#exited;
  }
}
