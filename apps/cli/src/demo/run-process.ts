import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { HarnessEvent } from "@cinch/core";

/** `cinch run --json` in another process. */
export class RunProcess {
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #exited: Promise<number | null>;

  constructor(args: readonly string[], env: Record<string, string>) {
    const program = [...process.execArgv, process.argv[1]!, "run", "--json", ...args];
    this.#process = spawn(process.execPath, program, {
      env: { ...process.env, ...env },
      // Ctrl-C must reach only the demonstration, which then kills this process itself.
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.pid = this.#process.pid ?? 0;
    this.#exited = new Promise((resolve, reject) => {
      this.#process.once("error", reject);
      this.#process.once("close", resolve);
    });
  }

  async *events(): AsyncGenerator<HarnessEvent> {
    // The kill may cut off the last line, which is then not JSON.
    const lines = createInterface({ input: this.#process.stdout!, crlfDelay: Infinity });
    for await (const line of lines) {
      if (line.endsWith("}")) yield JSON.parse(line) as HarnessEvent;
    }
  }

  /** The exit code, or `null` if it was killed. */
  exited(): Promise<number | null> {
    return this.#exited;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}
