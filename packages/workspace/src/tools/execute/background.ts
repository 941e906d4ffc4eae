import type { WorkspaceHost } from "@cinch/core";
import { setTimeout as sleep } from "node:timers/promises";
import type { Output } from "../../outputs/output.ts";
import type { CommandOf, Outputs } from "../../outputs/outputs.ts";
import type { Exit, Running } from "../../shells/shell.ts";

/** How many commands of one thread may run at once. */
export const MOST_RUNNING = 16;
/** How many that are over are remembered. What the others printed is still in their files. */
const REMEMBERED = 64;
/** What came is shown when it has been quiet for so long, */
const QUIET_MS = 100;
/** or for so long not. */
const BUSY_MS = 1_000;
const LOOK_MS = 20;

interface Started {
  output: Output;
  running: Running;
  /** Called when it is over. Must not reject. */
  onEnd(): Promise<void>;
}

/** A command that outlives the call and the turn that started it. Its output is looked at piece by piece. */
export class BackgroundCommand {
  readonly id: string;
  readonly threadId: string;
  readonly output: Output;
  readonly running: Running;
  /** Settles when it is over, with its output in the file. Never rejects. */
  readonly ended: Promise<void>;
  #exit: Exit | undefined;
  #seen = 0;
  /** How much there was at the last look, with what was not shown because it was not whole. */
  #known = 0;
  #unread = false;

  constructor({ threadId, id }: CommandOf, { output, running, onEnd }: Started) {
    this.id = id;
    this.threadId = threadId;
    this.output = output;
    this.running = running;
    this.ended = this.#toTheEnd(onEnd);
  }

  /** `undefined` while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  async #toTheEnd(onEnd: Started["onEnd"]): Promise<void> {
    const exit = await this.running.exit;
    await this.output.close();
    this.#exit = exit;
    await onEnd();
  }

  /** Settles when there is something new and no more comes at the moment, when it is over, or in time. Rejects if it is aborted. */
  async news(waitMs: number, signal: AbortSignal): Promise<void> {
    let until = performance.now() + waitMs;
    let [bytes, since] = [this.#known, performance.now()];
    while (!this.#exit && performance.now() < until) {
      if (this.output.bytes !== bytes) {
        if (bytes === this.#known) until = Math.min(until, performance.now() + BUSY_MS);
        [bytes, since] = [this.output.bytes, performance.now()];
      }
      if (bytes > this.#known && performance.now() - since >= QUIET_MS) return;
      await sleep(LOOK_MS, undefined, { signal });
    }
  }

  /** What came since the last look. */
  look(): { text: string; from: number; to: number } {
    const from = this.#seen;
    const { text, to } = this.output.since(from, { partial: this.#exit === undefined });
    this.#seen = to;
    this.#known = this.output.bytes;
    return { text, from, to };
  }

  /** Tells it something. `waiting`: it has not taken that yet. `unread`: nor what it was told before, so it was not told more. */
  async tell(text: string, waitMs: number): Promise<"taken" | "waiting" | "unread" | "closed"> {
    if (this.#unread) return "unread";
    this.#unread = true;
    const written = this.running.write(text).finally(() => (this.#unread = false));
    const taken = await Promise.race([written, sleep(waitMs, "late" as const, { ref: false })]);
    if (taken === "late") return "waiting";
    return taken ? "taken" : "closed";
  }
}

/** The commands that run in the background, each for the thread that started it. They end with the workspace. */
export class Background {
  readonly outputs: Outputs;
  #host: Pick<WorkspaceHost, "onThreadDeleted"> | undefined;
  readonly #commands = new Map<string, BackgroundCommand>();

  constructor(outputs: Outputs) {
    this.outputs = outputs;
  }

  open(host: Pick<WorkspaceHost, "onThreadDeleted">): void {
    this.#host = host;
  }

  /** Whether the thread may start another one. */
  hasRoom(threadId: string): boolean {
    const own = [...this.#commands.values()].filter((one) => one.threadId === threadId && !one.exit);
    return own.length < MOST_RUNNING;
  }

  add(command: CommandOf, { onEnd, ...started }: Started): void {
    // Nobody could see it, or end it, any more. Stopping never rejects.
    const off = this.#host?.onThreadDeleted(command.threadId, () => started.running.stop());
    const over = async () => {
      off?.();
      await onEnd();
    };
    this.#commands.set(keyOf(command), new BackgroundCommand(command, { ...started, onEnd: over }));
    const ended = [...this.#commands].filter(([, one]) => one.exit);
    for (const [key] of ended.slice(0, Math.max(0, ended.length - REMEMBERED))) this.#commands.delete(key);
  }

  /** Ends all of them. Settles when what they printed is saved. */
  async close(): Promise<void> {
    const all = [...this.#commands.values()];
    await Promise.all(all.map(({ running }) => running.stop()));
    await Promise.all(all.map(({ ended }) => ended));
  }

  find(command: CommandOf): BackgroundCommand | undefined {
    return this.#commands.get(keyOf(command));
  }
}

const keyOf = ({ threadId, id }: CommandOf): string => JSON.stringify([threadId, id]);
