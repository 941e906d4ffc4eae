import { memoryStore, type Harness, type HarnessConfig, type HarnessEvent, type ToolSet } from "@cinch/core";
import { MemoryData, type MemoryStore } from "@cinch/core/store";
import type { ScriptedModel } from "@cinch/testkit";
import { harness } from "../support.ts";
import { Engine } from "./engine.ts";

type Options = Partial<HarnessConfig> & { model: ScriptedModel; tools?: ToolSet; storage?: MemoryStore };
type Process = Harness & AsyncDisposable & { seen: HarnessEvent[]; store: MemoryStore };

/** Several processes on the same data, with one engine. They are closed at the end of the test. */
export class Team implements AsyncDisposable {
  readonly data = new MemoryData();
  readonly engine: Engine;
  readonly #processes: Process[] = [];

  constructor(engine = new Engine()) {
    this.engine = engine;
  }

  worker(options: Options): Promise<Process> {
    return this.#process({ worker: {}, ...options });
  }

  front(options: Options): Promise<Process> {
    return this.#process(options);
  }

  async #process(options: Options): Promise<Process> {
    const store = options.storage ?? memoryStore(this.data);
    const made = await harness({ placement: this.engine.placement(), ...options, storage: store });
    const process = Object.assign(made, { store });
    this.#processes.push(process);
    return process;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.close({ drainMs: 0 }).catch(() => undefined)));
  }
}

/** Settles when the condition holds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
