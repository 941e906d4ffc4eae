import { spawn, type ChildProcessByStdio } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { inherited } from "../cli.ts";
import { LINES } from "../programs.ts";
import { PseudoTerminal } from "../terminal/pseudo-terminal.ts";

interface StartOptions {
  args?: readonly string[];
  env?: Record<string, string>;
}

/** A project in a temporary folder, in which the app runs as lines of text. */
export class LineFolder {
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), "cinch-line-")));
  readonly folder = join(this.#base, "project");
  readonly state = join(this.#base, "state");
  readonly #started: Disposable[] = [];

  constructor() {
    mkdirSync(this.folder);
    mkdirSync(this.state);
  }

  /** On pipes. */
  start(script: string, { args = [], env = {} }: StartOptions = {}): LineProcess {
    const child = spawn(process.execPath, [LINES, ...args], {
      cwd: this.folder,
      env: { ...inherited(), STATE: this.state, SCRIPT: script, LANG: "C.UTF-8", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const started = new LineProcess(child);
    this.#started.push(started);
    return started;
  }

  /** In a pseudo-terminal with TERM=dumb. */
  async startInTerminal(script: string): Promise<PseudoTerminal> {
    const terminal = new PseudoTerminal({
      ...inherited(),
      TERM: "dumb",
      NODE: process.execPath,
      PROGRAM: LINES,
      FOLDER: this.folder,
      STATE: this.state,
      SCRIPT: script,
    });
    this.#started.push(terminal);
    await terminal.run("cd \"$FOLDER\"; echo se''t", /^set$/m);
    await terminal.run('"$NODE" "$PROGRAM"', /^build> ?$/m);
    return terminal;
  }

  /** `gate`: what the model waits for, or the file that `GUARD` names. */
  openGate(gate = "gate"): void {
    writeFileSync(join(this.folder, gate), "");
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  [Symbol.dispose](): void {
    for (const one of this.#started) one[Symbol.dispose]();
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 9 });
  }
}

export class LineProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<number | null>;
  output = "";
  #seen = 0;

  constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    // Its end is told by `close`.
    child.stdin.on("error", () => undefined);
    this.ended = new Promise((resolve) => child.once("close", (code) => resolve(code)));
  }

  /** Waits for what is printed next. What was waited for before is not looked at again. */
  async until(printed: RegExp): Promise<void> {
    for (const end = Date.now() + 300_000; ; await sleep(20)) {
      const found = printed.exec(this.output.slice(this.#seen));
      if (found) {
        this.#seen += found.index + found[0].length;
        return;
      }
      if (Date.now() > end) throw new Error(`Not printed: ${printed}. After:\n${this.output}`);
    }
  }

  /** The app has done what was typed: it waits for something, and for longer than for the next line of a paste. */
  async untilQuiet(): Promise<void> {
    for (let looks = 0; looks < 15; looks = isAsleep(this.child.pid!) ? looks + 1 : 0) await sleep(20);
  }

  type(text: string): void {
    this.child.stdin.write(text);
  }

  /** Waits for a prompt, and types a line there. */
  async answer(prompt: RegExp, typed: string): Promise<void> {
    await this.until(prompt);
    this.type(`${typed}\n`);
  }

  /** Closes the input, and waits for the end. */
  async leave(): Promise<number | null> {
    this.child.stdin.end();
    return this.ended;
  }

  [Symbol.dispose](): void {
    this.child.kill("SIGKILL");
  }
}

/** Whether no thread of the process runs, or would run if the machine were less busy. Where the system does not say it: yes. */
function isAsleep(pid: number): boolean {
  if (process.platform !== "linux") return true;
  return readdirSync(`/proc/${pid}/task`).every((id) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, "utf8");
      return stat[stat.lastIndexOf(")") + 2] === "S";
    } catch {
      // The thread has ended between the two looks.
      return false;
    }
  });
}

/** Where the app waits for a message. */
export const READY = /^build> $/m;
