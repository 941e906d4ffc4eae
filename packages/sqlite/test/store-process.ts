import { fork } from "node:child_process";
import { once } from "node:events";
import type { Store } from "@cinch/core";
import type { SqliteOptions } from "@cinch/sqlite";
import { bundle } from "../../testkit/test/bundle.ts";

const program = await bundle(new URL("./programs/store-process.ts", import.meta.url));

export interface ProcessOptions {
  env?: Record<string, string>;
  uid?: number;
}

type Whole = Required<Store>;
type Method = keyof { [M in keyof Whole as Whole[M] extends (...args: never[]) => Promise<unknown> ? M : never]: true };
type Waiting = { resolve(value: unknown): void; reject(reason: unknown): void };

/** A store in a process of its own, which runs `programs/store-process.ts`. */
export class StoreProcess {
  readonly #process;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(options: SqliteOptions, { env, uid }: ProcessOptions) {
    this.#process = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      uid,
      env: { ...process.env, ...env },
      serialization: "advanced",
    });
    this.#process.on("message", (answer: { id: number; value: unknown; failure?: object }) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (answer.failure) waiting?.reject(Object.assign(new Error("in the child"), answer.failure));
      else waiting?.resolve(answer.value);
    });
    this.#process.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the child is dead"));
      this.#waiting.clear();
    });
  }

  call<M extends Method>(method: M, ...args: Parameters<Whole[M]>): ReturnType<Whole[M]> {
    const answer = new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      // Without a listener here, a child that has died would end this process.
      this.#process.send({ id, method, args }, (error) => error && reject(new Error("the child is dead")));
    });
    return answer as ReturnType<Whole[M]>;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.dead();
  }

  async dead(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }

  close = async (): Promise<void> => this.kill();
}
