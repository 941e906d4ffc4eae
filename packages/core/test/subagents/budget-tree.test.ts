import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { CinchError, type DurableEvent, type Session } from "@cinch/core";
import { scriptedBy } from "@cinch/testkit";
import * as fc from "fast-check";
import { hashAtOnce, Schedule, ScheduledProcess } from "../scheduled.ts";
import { auditBudgets } from "./budget-tree-oracle.ts";
import { budgetPlans, configOf, stepFor, type BudgetPlan, type Op } from "./budget-tree-plan.ts";

/** Errors of a command that came too late. */
const EXPECTED: readonly unknown[] = ["CLOSED", "THREAD_NOT_FOUND"];
const SHORT_MS = 50;
const ROOT = "thread-1";

/** Two processes at one tree. A dead one is replaced when an operation needs it. */
class BudgetStory extends Schedule {
  readonly log: DurableEvent[] = [];
  readonly #plan: BudgetPlan;
  readonly #processes: ScheduledProcess[] = [];
  readonly #failures: unknown[] = [];

  constructor(plan: BudgetPlan) {
    super(plan.order);
    this.#plan = plan;
  }

  /** Returns how many turns have ended at a limit. */
  async play(): Promise<number> {
    const first = this.#start(0);
    this.#command(async () => {
      await first.harness.createThread();
      await first.harness.post({ content: "DO 0", delivery: "send" });
    });
    while (this.log.length < 2) await this.step(SHORT_MS);
    this.#open(this.#start(1));
    for (const op of this.#plan.ops) {
      if (op.soon) await this.interfere(() => this.#do(op));
      else {
        while (await this.step(SHORT_MS));
        this.#do(op);
      }
    }
    await this.settle();
    await this.#end();
    if (this.#failures.length > 0) throw this.#failures[0];
    const left = [...this.data.threads.values()].filter(({ record }) => record.active);
    assert.deepEqual(
      left.map(({ record }) => record.id),
      [],
      "a thread is left",
    );
    return auditBudgets(this.#plan.tree, this.log, ROOT);
  }

  #start(who: number): ScheduledProcess {
    const { tree } = this.#plan;
    const configure = (process: ScheduledProcess) => {
      const model = scriptedBy(({ prompt }) => {
        const step = stepFor(tree, prompt);
        return async function* (options) {
          await process.pass("model");
          yield* step(options);
        };
      });
      const run = async () => {
        await process.pass("work");
        return "done";
      };
      return configOf(tree, { model, run });
    };
    return (this.#processes[who] = new ScheduledProcess(this, configure, (threadId, events, last) => {
      const seq = last - events.length + 1;
      this.log.push(...events.map((event, at) => ({ ...event, threadId, seq: seq + at }) as DurableEvent));
    }));
  }

  #open({ harness }: ScheduledProcess): void {
    this.#command(() => harness.switchThread({ threadId: ROOT }));
  }

  /** A person at the thread of a subagent. */
  #below({ who, which }: { who: 0 | 1; which: number }, give: (session: Session) => Promise<unknown>): void {
    const { harness } = this.#processes[who]!;
    const children = [...this.data.threads.keys()].filter((id) => id !== ROOT);
    const threadId = children[which % children.length];
    if (threadId !== undefined) this.#command(async () => give(await harness.createSession({ threadId })));
  }

  #command(give: () => Promise<unknown>): void {
    give().catch((error: unknown) => {
      if (!(error instanceof CinchError && EXPECTED.includes(error.code))) this.#failures.push(error);
    });
  }

  #do(op: Op): void {
    if (this.#processes[op.who]!.dead) this.#open(this.#start(op.who));
    const { harness, store } = this.#processes[op.who]!;
    switch (op.do) {
      case "talk":
        return this.#below(op, (session) => session.post({ content: "DO 9", delivery: "follow_up" }));
      case "rewind": {
        const rewind = async (session: Session) => {
          const toSeq = session.getDisplayState().seq - op.back;
          if (toSeq > 0) await session.rewind({ toSeq });
        };
        const { which } = op;
        if (which !== null) return this.#below({ ...op, which }, rewind);
        return this.#command(async () => rewind(await harness.createSession({ threadId: ROOT })));
      }
      case "again":
        return this.#command(() => harness.post({ content: "DO 0", delivery: "follow_up" }));
      case "resume":
        return this.#command(() => harness.resume());
      case "restart":
        this.#command(() => harness.close());
        return this.#open(this.#start(op.who));
      case "wait":
        return;
      case "die":
        return store.dieAt({ operations: op.operations, place: op.place });
    }
  }

  /** A last process opens the tree, and continues until everything has ended. */
  async #end(): Promise<void> {
    for (const process of this.#processes) if (!process.dead) process.die();
    const { harness } = this.#start(2);
    for (const threadId of [ROOT, ...this.data.threads.keys()]) {
      if (!this.data.threads.get(threadId)!.record.active) continue;
      const seats: Session[] = [];
      this.#command(async () => seats.push(await harness.createSession({ threadId })));
      await this.settle();
      const [seat] = seats;
      assert.ok(seat, `${threadId} could not be opened`);
      // After an abort, inputs that were queued wait for resume().
      const isOver = ({ status, inbox } = seat.getDisplayState()) => status === "idle" && inbox.length === 0;
      for (let round = 0; !isOver(); round++) {
        assert.ok(round < 20, "the tree hangs");
        this.#command(() => seat.resume());
        await this.settle();
      }
    }
  }
}

test("no step of a tree begins after a budget is used up, and no turn ends before: whatever the tree, the order and the crashes", async (t) => {
  hashAtOnce(t);
  let ends = 0;
  const property = fc.asyncProperty(budgetPlans, async (plan) => {
    const story = new BudgetStory(plan);
    try {
      ends += await story.play();
    } catch (error) {
      const lines = story.log.map(line).join("\n");
      throw new Error(`${inspect(plan, { depth: 9, breakLength: 160 })}\n${lines}`, { cause: error });
    }
  });
  // More of them find more: BUDGET_RUNS=5000 takes some minutes.
  await fc.assert(property, { numRuns: Number(process.env["BUDGET_RUNS"] ?? 60), endOnFailure: true });
  assert.ok(ends > 0);
});

function line({ seq, type, threadId, ...event }: DurableEvent, at: number): string {
  const rest = { ...event, v: undefined, at: undefined };
  return `${at} ${threadId.slice(0, 9)} ${String(seq).padStart(4)} ${type} ${JSON.stringify(rest).slice(0, 200)}`;
}
