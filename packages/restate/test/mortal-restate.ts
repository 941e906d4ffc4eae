import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { endRestate, startRestate, type RestateServer } from "./server.ts";
import { until } from "../../postgres/test/until.ts";

/** A Restate of its own, which the test may kill, start and wipe. */
export class MortalRestate implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "cinch-restate-"));
  #server: RestateServer | undefined;

  async start(): Promise<RestateServer> {
    return (this.#server = await startRestate(this.#folder, { as: this.#server }));
  }

  async kill(): Promise<void> {
    const { pid } = this.#server!;
    endRestate(pid);
    await until("its end", () => !isAlive(pid));
  }

  get pid(): number {
    return this.#server!.pid;
  }

  wipe(): void {
    rmSync(join(this.#folder, "data"), { recursive: true, force: true, maxRetries: 3 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server) endRestate(this.#server.pid);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
