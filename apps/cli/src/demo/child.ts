import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { HarnessEvent } from "@cinch/core";

/** A `cinch run` of its own, in a process of its own. */
export class RunningChild {
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #gone: Promise<number | null>;

  constructor(args: readonly string[], env: Record<string, string>) {
    const program = [...process.execArgv, process.argv[1]!, "run", "--json", ...args];
    this.#process = spawn(process.execPath, program, {
      env: { ...process.env, ...env },
      // A Ctrl-C is meant for the demonstration, which ends its process with itself.
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.pid = this.#process.pid ?? 0;
    this.#gone = new Promise((resolve, reject) => {
      this.#process.once("error", reject);
      this.#process.once("close", resolve);
    });
  }

  async *events(): AsyncGenerator<HarnessEvent> {
    // A line that the kill cut in two is not an event; it has no line end, so it comes last.
    const lines = createInterface({ input: this.#process.stdout!, crlfDelay: Infinity });
    for await (const line of lines) {
      if (line.endsWith("}")) yield JSON.parse(line) as HarnessEvent;
    }
  }

  /** The exit code, or `null` if it was killed. */
  gone(): Promise<number | null> {
    return this.#gone;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}
