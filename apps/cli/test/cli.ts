import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { trustFolder } from "../src/setup/trust.ts";
import { MAIN } from "./programs.ts";

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Event {
  type: string;
  seq?: number;
  threadId: string;
  [field: string]: unknown;
}

export interface LedgerEntry {
  what: "begin" | "end" | "fail";
  tool: string;
  key: string;
  args: Record<string, unknown>;
}

/** Without the compile cache, each process would compile everything again. */
export function inherited(): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}

/** A temporary folder in which `cinch` runs: the real program, in real processes. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "cinch-cli-"));
  readonly home = mkdtempSync(join(tmpdir(), "cinch-home-"));
  readonly ledger = join(this.folder, "ledger.jsonl");
  readonly #running = new Set<Running>();

  /** As if the user had trusted the folder: otherwise a database that another program made is not used. */
  trust(): void {
    trustFolder({ folder: this.folder, env: { HOME: this.home } });
  }

  /** The environment has only what is `inherited` and `env`, so that no key of this machine is used. */
  start(args: readonly string[], { env = {} }: { env?: Record<string, string> } = {}): Running {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: this.folder,
      env: { ...inherited(), HOME: this.home, CINCH_OFFLINE_DELAY_MS: "0", CINCH_LEDGER: this.ledger, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const running = new Running(child);
    this.#running.add(running);
    return running;
  }

  /** Runs to the end; `input` is all of stdin. */
  async run(
    args: readonly string[],
    { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Finished> {
    const running = this.start(args, { env });
    // A program that does not read its input may end before it gets all of it.
    running.child.stdin.on("error", () => undefined).end(input);
    return running.finished;
  }

  ledgerEntries(): LedgerEntry[] {
    const lines = readFileSync(this.ledger, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as LedgerEntry);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const running of this.#running) running.child.kill("SIGKILL");
    await Promise.all([...this.#running].map(({ finished }) => finished));
    for (const folder of [this.folder, this.home]) rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
  }
}

class Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly finished: Promise<Finished>;
  #stdout = "";
  #stderr = "";

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.#stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.finished = this.#end();
  }

  async #end(): Promise<Finished> {
    const [code, signal] = (await once(this.child, "close")) as [number | null, NodeJS.Signals | null];
    return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Settles when the program has printed this. */
  async prints(pattern: RegExp, from: "stdout" | "stderr" = "stderr"): Promise<void> {
    const isPrinted = () => pattern.test(from === "stdout" ? this.#stdout : this.#stderr);
    while (!isPrinted()) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`It ended without printing ${pattern}: ${this.#stderr}`);
      await Promise.race([once(this.child[from], "data"), this.finished]);
    }
  }

  get stdout(): string {
    return this.#stdout;
  }
}

export const eventsOf = (stdout: string): Event[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event);

export const threadIn = ({ stderr }: Finished): string => /\bthread (thread_\w+)/.exec(stderr)![1]!;
