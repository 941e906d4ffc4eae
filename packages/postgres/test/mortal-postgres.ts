import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { startServer, type Server } from "./server.ts";

/** A server of its own, which a test may kill, stop and start again on its data. */
export class MortalPostgres implements AsyncDisposable {
  readonly #folder: string;
  #server: Server | undefined;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "cinch-postgres-"));
    // The server runs as another user.
    chmodSync(this.#folder, 0o755);
  }

  get url(): string {
    return this.#server!.url;
  }

  async start(): Promise<void> {
    this.#server = await startServer(this.#data, { port: this.#server?.port });
  }

  /** All processes of the server: while one of them lives, no other server can have its data. */
  async kill(): Promise<void> {
    for (let pids = this.#pids(); pids.length > 0; pids = this.#pids()) {
      for (const pid of pids) signalPid(pid, "SIGKILL");
      await pause(10);
    }
  }

  /** One of its processes. The server then ends all connections, and recovers. */
  killOne(): void {
    const children = this.#pids().filter((pid) => pid !== this.#server!.pid);
    const child = children[Math.floor(Math.random() * children.length)];
    if (child) signalPid(child, "SIGKILL");
  }

  async stopFor(ms: number): Promise<void> {
    const pids = this.#pids();
    for (const pid of pids) signalPid(pid, "SIGSTOP");
    await pause(ms);
    for (const pid of pids) signalPid(pid, "SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.#pids()) signalPid(pid, "SIGCONT");
    if (this.#server) signalPid(this.#server.pid, "SIGQUIT");
    while (this.#pids().length > 0) await pause(20);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  /** Their working directory is the data. */
  #pids(): number[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => workingDirectory(pid) === this.#data).map(Number);
  }
}

function workingDirectory(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** A process that is gone by now is no defect. */
export function signalPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
