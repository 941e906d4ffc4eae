import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { programOn } from "../processes/host-programs.ts";
import { commandEnvironment } from "../shells/environment.ts";
import type { SrtAnswer, SrtPrograms, SrtRequest } from "./srt-host.ts";

const HOST = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./srt-host.ts" : "./srt-host.js", import.meta.url),
);

/** How the network is reached from here: for its proxy, not for commands. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

type Wrap = Extract<SrtRequest, { wrap: string }>;

/** The process in which sandbox-runtime lives: started when it is needed, and again if it died. */
export class SrtLink {
  readonly programs: SrtPrograms;
  readonly #path: string;
  readonly #waiting = new Map<number, { resolve: (argv: string[]) => void; reject: (error: Error) => void }>();
  #last = 0;
  #host: { process: ChildProcess; ready: Promise<unknown>; folder: string } | undefined;

  /** `path`: the PATH of the programs that it needs. Throws if there is one missing. */
  constructor(path: string) {
    this.#path = path;
    const program = (name: string): string => {
      const found = programOn(path, name);
      if (found === undefined) throw new Error(`${name} is not installed (not on PATH).`);
      return found;
    };
    this.programs = { bash: program("bash"), bwrap: program("bwrap"), socat: program("socat"), rg: rgPath };
  }

  /** Rejects with why it does not work. */
  async ready(): Promise<string> {
    const host = (this.#host ??= this.#start());
    await host.ready;
    return host.folder;
  }

  async wrap(request: Omit<Wrap, "id">): Promise<string[]> {
    await this.ready();
    const id = (this.#last += 1);
    const answer = this.#answerTo(id);
    this.#send({ ...request, id });
    return answer;
  }

  over(key: string): void {
    this.#send({ key });
  }

  /** Settles when it is gone, with its helpers. */
  async close(): Promise<void> {
    const { process } = this.#host ?? {};
    if (!process || process.exitCode !== null) return;
    const gone = new Promise((resolve) => process.once("exit", resolve));
    process.ref();
    process.stdin?.end();
    await gone;
  }

  #answerTo(id: number): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#keep();
    });
  }

  /** The harness may end although the process is still there, which notices that; but not while something is waited for. */
  #keep(): void {
    const { process } = this.#host ?? {};
    for (const one of [process, process?.stdin, process?.stdout] as ({ ref(): void; unref(): void } | undefined)[]) {
      if (this.#waiting.size > 0) one?.ref();
      else one?.unref();
    }
  }

  #send(request: SrtRequest): void {
    const input = this.#host?.process.stdin;
    if (input?.writable) input.write(`${JSON.stringify(request)}\n`);
  }

  #start() {
    // It leaves sockets, and for a moment files, where it is.
    const folder = mkdtempSync(join(tmpdir(), "cinch-srt-"));
    const network = PROXIES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    const host = spawn(process.execPath, [HOST, JSON.stringify(this.programs)], {
      cwd: folder,
      env: { ...commandEnvironment(process.env), ...Object.fromEntries(network), PATH: this.#path, TMPDIR: folder },
      stdio: ["pipe", "pipe", "ignore"],
      // What the terminal sends to the harness must not reach it.
      detached: true,
    });
    const ready = this.#answerTo(0);
    const lost = (why: string) => {
      this.#host = undefined;
      for (const { reject } of this.#waiting.values()) reject(new Error(why));
      this.#waiting.clear();
    };
    host.once("error", (error) => lost(error.message));
    host.once("exit", () => lost("The process that makes sandboxes ended unexpectedly."));
    host.stdin.on("error", () => {});
    createInterface({ input: host.stdout }).on("line", (line) => this.#answered(JSON.parse(line) as SrtAnswer));
    return { process: host, ready, folder };
  }

  #answered(answer: SrtAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    this.#keep();
    if ("argv" in answer) waiting?.resolve(answer.argv);
    else waiting?.reject(new Error(answer.error));
  }
}
