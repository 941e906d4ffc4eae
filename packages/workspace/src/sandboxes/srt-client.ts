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

/** For the proxy of sandbox-runtime, not for commands. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

type WrapRequest = Extract<SrtRequest, { wrap: string }>;

/** Talks to the process of sandbox-runtime, which is started when it is needed, and again if it died. */
export class SrtClient {
  readonly programs: SrtPrograms;
  readonly #path: string;
  readonly #waiting = new Map<number, { resolve: (argv: string[]) => void; reject: (error: Error) => void }>();
  #last = 0;
  #host: { process: ChildProcess; ready: Promise<unknown>; folder: string } | undefined;

  /** `path`: the PATH of the programs that it needs. Throws if one is missing. */
  constructor(path: string) {
    this.#path = path;
    const program = (name: string): string => {
      const found = programOn(path, name);
      if (found === undefined) throw new Error(`${name} is not installed (not on PATH).`);
      return found;
    };
    this.programs = { bash: program("bash"), bwrap: program("bwrap"), socat: program("socat"), rg: rgPath };
  }

  /** Returns the folder of the process. Rejects if sandbox-runtime does not work. */
  async ready(): Promise<string> {
    const host = (this.#host ??= this.#start());
    await host.ready;
    return host.folder;
  }

  async wrap(request: Omit<WrapRequest, "id">): Promise<string[]> {
    await this.ready();
    const id = (this.#last += 1);
    const answer = this.#answerTo(id);
    this.#send({ ...request, id });
    return answer;
  }

  /** Call it when the command with this key has ended. */
  release(key: string): void {
    this.#send({ key });
  }

  /** Settles when the process and its helpers are gone. */
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
      this.#updateRefs();
    });
  }

  /** The process keeps the harness alive only while an answer is waited for. It notices the end of the harness itself. */
  #updateRefs(): void {
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
    // sandbox-runtime leaves sockets, and for a moment files, in its working folder.
    const folder = mkdtempSync(join(tmpdir(), "cinch-srt-"));
    const network = PROXIES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    const host = spawn(process.execPath, [HOST, JSON.stringify(this.programs)], {
      cwd: folder,
      env: { ...commandEnvironment(process.env), ...Object.fromEntries(network), PATH: this.#path, TMPDIR: folder },
      stdio: ["pipe", "pipe", "ignore"],
      // Signals of the terminal must not reach it.
      detached: true,
    });
    const ready = this.#answerTo(0);
    const onLost = (why: string) => {
      this.#host = undefined;
      for (const { reject } of this.#waiting.values()) reject(new Error(why));
      this.#waiting.clear();
    };
    host.once("error", (error) => onLost(error.message));
    host.once("exit", () => onLost("The process that makes sandboxes ended unexpectedly."));
    host.stdin.on("error", () => {});
    createInterface({ input: host.stdout }).on("line", (line) => this.#onAnswer(JSON.parse(line) as SrtAnswer));
    return { process: host, ready, folder };
  }

  #onAnswer(answer: SrtAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    this.#updateRefs();
    if ("argv" in answer) waiting?.resolve(answer.argv);
    else waiting?.reject(new Error(answer.error));
  }
}
