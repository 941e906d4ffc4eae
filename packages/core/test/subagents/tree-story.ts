import assert from "node:assert/strict";
import { CinchError, type DurableEvent, type HarnessConfig, type Session } from "@cinch/core";
import { scriptedBy, type ScriptedModel, type Step } from "@cinch/testkit";
import { Schedule, ScheduledProcess, type Deadline } from "../scheduled.ts";

type Prompt = ScriptedModel["requests"][number]["prompt"];

const SHORT_MS = 50;
export const ROOT = "thread-1";

/** What happens to the processes, in every story. */
type ProcessOp = { do: "wait" | "restart" | "resume" } | ({ do: "die" } & Deadline);
interface StoryOp {
  do: string;
  who: 0 | 1;
  /** While other work is in progress. Otherwise when everything has settled. */
  soon: boolean;
}

/** Two processes at one tree of subagents. A dead one is replaced when an operation needs it. */
export abstract class TreeStory<Op extends StoryOp> extends Schedule {
  readonly log: DurableEvent[] = [];
  readonly #ops: readonly Op[];
  readonly #processes: ScheduledProcess[] = [];
  readonly #failures: unknown[] = [];

  constructor({ ops, order }: { ops: readonly Op[]; order: readonly number[] }) {
    super(order);
    this.#ops = ops;
  }

  /** The codes of errors of a command that came too late. */
  protected abstract readonly expected: readonly string[];
  protected abstract configOf(process: ScheduledProcess): HarnessConfig;
  /** What only this story has. */
  protected abstract act(op: Op, process: ScheduledProcess): void;
  /** Continues until the thread of the seat is idle. */
  protected abstract end(seat: Session): Promise<void>;

  protected async playTree(): Promise<void> {
    const first = this.#start(0);
    this.command(async () => {
      await first.harness.createThread();
      await first.harness.post({ content: "DO 0", delivery: "send" });
    });
    while (this.log.length < 2) await this.step(SHORT_MS);
    this.#open(this.#start(1));
    for (const op of this.#ops) {
      if (op.soon) await this.interfere(() => this.#do(op));
      else {
        while (await this.step(SHORT_MS));
        this.#do(op);
      }
    }
    await this.settle();
    await this.#endAll();
    if (this.#failures.length > 0) throw this.#failures[0];
    const left = [...this.data.threads.values()].filter(({ record }) => record.active);
    assert.deepEqual(
      left.map(({ record }) => record.id),
      [],
      "a thread is left",
    );
  }

  /** A model whose answers wait for the schedule. */
  protected modelOf(process: ScheduledProcess, stepFor: (prompt: Prompt) => Step): ScriptedModel {
    return scriptedBy(({ prompt }) => {
      const step = stepFor(prompt);
      return async function* (options) {
        await process.pass("model");
        yield* step(options);
      };
    });
  }

  protected command(give: () => Promise<unknown>): void {
    give().catch((error: unknown) => {
      if (!(error instanceof CinchError && this.expected.includes(error.code))) this.#failures.push(error);
    });
  }

  /** A person at the thread of a subagent. */
  protected below({ who, which }: { who: 0 | 1; which: number }, give: (session: Session) => Promise<unknown>): void {
    const { harness } = this.#processes[who]!;
    const children = [...this.data.threads.keys()].filter((id) => id !== ROOT);
    const threadId = children[which % children.length];
    if (threadId !== undefined) this.command(async () => give(await harness.createSession({ threadId })));
  }

  protected atRoot({ harness }: ScheduledProcess, give: (session: Session) => Promise<unknown>): void {
    this.command(async () => give(await harness.createSession({ threadId: ROOT })));
  }

  #start(who: number): ScheduledProcess {
    const configure = (process: ScheduledProcess) => this.configOf(process);
    return (this.#processes[who] = new ScheduledProcess(this, configure, (threadId, events, last) => {
      const first = last - events.length + 1;
      this.log.push(...events.map((event, at) => ({ ...event, threadId, seq: first + at }) as DurableEvent));
    }));
  }

  #open({ harness }: ScheduledProcess): void {
    this.command(() => harness.switchThread({ threadId: ROOT }));
  }

  #do(op: Op): void {
    if (this.#processes[op.who]!.dead) this.#open(this.#start(op.who));
    const process = this.#processes[op.who]!;
    const { harness, store } = process;
    const common = op as unknown as ProcessOp;
    switch (common.do) {
      case "resume":
        return this.command(() => harness.resume());
      case "restart":
        this.command(() => harness.close());
        return this.#open(this.#start(op.who));
      case "wait":
        return;
      case "die":
        return store.dieAt({ operations: common.operations, place: common.place });
      default:
        return this.act(op, process);
    }
  }

  /** A last process opens the tree, and continues until everything has ended. A turn that a person began in a subagent is at its thread. */
  async #endAll(): Promise<void> {
    for (const process of this.#processes) if (!process.dead) process.die();
    const { harness } = this.#start(2);
    for (const threadId of [ROOT, ...this.data.threads.keys()]) {
      if (!this.data.threads.get(threadId)!.record.active) continue;
      const seats: Session[] = [];
      this.command(async () => seats.push(await harness.createSession({ threadId })));
      await this.settle();
      const [seat] = seats;
      assert.ok(seat, `${threadId} could not be opened`);
      await this.end(seat);
    }
  }
}

/** After an abort, inputs and notes that were queued wait for `resume()`. */
export const isOver = (seat: Session): boolean => {
  const { status, inbox } = seat.getDisplayState();
  return status === "idle" && inbox.length === 0;
};

/** An event as a failure shows it. */
export function line({ seq, type, threadId, ...event }: DurableEvent, at: number): string {
  const rest = { ...event, v: undefined, at: undefined };
  return `${at} ${threadId.slice(0, 9)} ${String(seq).padStart(4)} ${type} ${JSON.stringify(rest).slice(0, 200)}`;
}
