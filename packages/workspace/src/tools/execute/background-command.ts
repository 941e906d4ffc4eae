import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { PathRuleLists } from "@cinch/core";
import type { Output } from "../../outputs/output.ts";
import type { CommandKey } from "../../outputs/outputs.ts";
import type { CommandExit, Running } from "../../shells/shell.ts";

/** New output is shown when nothing more came for this long, or after `BUSY_MS`. */
const QUIET_MS = 100;
const BUSY_MS = 1_000;
const POLL_MS = 20;

export interface StartedCommand {
  /** The command line. */
  command: string;
  output: Output;
  running: Running;
  /** Called when the command has ended. Must not reject. */
  onEnd(): Promise<void>;
  /** Of the agents that started it. */
  pathRules: PathRuleLists;
}

/** A command that outlives the call and the turn that started it. */
export class BackgroundCommand {
  readonly id: string;
  readonly threadId: string;
  readonly command: string;
  readonly startedAt = Date.now();
  readonly output: Output;
  readonly running: Running;
  readonly #pathRules: PathRuleLists;
  /** Settles when the command has ended and its output is saved. Never rejects. */
  readonly ended: Promise<void>;
  #exit: CommandExit | undefined;
  #shown = 0;
  /** How much output there was at the last look, with an incomplete character that was not shown. */
  #known = 0;
  #unread = false;

  constructor({ threadId, id }: CommandKey, started: StartedCommand) {
    const { command, output, running, onEnd, pathRules } = started;
    this.id = id;
    this.threadId = threadId;
    this.command = command;
    this.output = output;
    this.running = running;
    this.#pathRules = pathRules;
    this.ended = this.#run(onEnd);
  }

  async #run(onEnd: StartedCommand["onEnd"]): Promise<void> {
    const exit = await this.running.exit;
    await this.output.close();
    this.#exit = exit;
    await onEnd();
  }

  /** Whether the command keeps these path rules. A thread may have entered a mode whose agent has more of them. */
  keeps(pathRules: PathRuleLists): boolean {
    return pathRules.every((list) => this.#pathRules.some((one) => isDeepStrictEqual(one, list)));
  }

  /** `undefined` while it runs. */
  get exit(): CommandExit | undefined {
    return this.#exit;
  }

  /** Settles when there is new output and a pause in it, at the end of the command, or after `waitMs`. Rejects if aborted. */
  async waitForOutput(waitMs: number, signal: AbortSignal): Promise<void> {
    let until = performance.now() + waitMs;
    let [bytes, since] = [this.#known, performance.now()];
    while (!this.#exit && performance.now() < until) {
      if (this.output.bytes !== bytes) {
        if (bytes === this.#known) until = Math.min(until, performance.now() + BUSY_MS);
        [bytes, since] = [this.output.bytes, performance.now()];
      }
      if (bytes > this.#known && performance.now() - since >= QUIET_MS) return;
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  /** The output since the last look. */
  look(): { text: string; from: number; to: number } {
    const from = this.#shown;
    const { text, to } = this.output.since(from, { partial: this.#exit === undefined });
    this.#shown = to;
    this.#known = this.output.bytes;
    return { text, from, to };
  }

  /** `waiting`: the command has not read the text yet. `unread`: nor an earlier text, so this one was not written. */
  async write(text: string, waitMs: number): Promise<"read" | "waiting" | "unread" | "closed"> {
    if (this.#unread) return "unread";
    this.#unread = true;
    const written = this.running.write(text).finally(() => (this.#unread = false));
    const taken = await Promise.race([written, sleep(waitMs, "late" as const, { ref: false })]);
    if (taken === "late") return "waiting";
    return taken ? "read" : "closed";
  }
}
