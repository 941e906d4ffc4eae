import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { CinchError, type DurableEvent, type Session } from "@cinch/core";
import { scriptedBy } from "@cinch/testkit";
import * as fc from "fast-check";
import { hashAtOnce, Schedule, ScheduledProcess } from "../scheduled.ts";
import { auditEnds, auditTree, type TreeRun } from "./denied-tree-oracle.ts";
import { configOf, modeId, stepFor, treePlans, type Op, type TreePlan, type TreeSpec } from "./denied-tree-plan.ts";

/** Errors of a command that came too late, or of an answer without a waiting call. */
const EXPECTED: readonly unknown[] = ["NOT_PENDING", "ALREADY_ANSWERED", "CLOSED", "THREAD_NOT_FOUND"];
const SHORT_MS = 50;
const ROOT = "thread-1";

class TreeWorld extends Schedule {
  readonly tree: TreeSpec;
  readonly log: DurableEvent[] = [];
  readonly ran: TreeRun[] = [];

  constructor({ tree, order }: TreePlan) {
    super(order);
    this.tree = tree;
  }

  start(): ScheduledProcess {
    return new ScheduledProcess(
      this,
      (process) => ({ ...configOf(this.tree, this.#parts(process)), onAsk: "wait" }),
      (threadId, events, last) => {
        const first = last - events.length + 1;
        this.log.push(...events.map((event, at) => ({ ...event, threadId, seq: first + at }) as DurableEvent));
      },
    );
  }

  #parts(process: ScheduledProcess): Parameters<typeof configOf>[1] {
    const { tree } = this;
    const model = scriptedBy(({ prompt }) => {
      const step = stepFor(tree, prompt);
      return async function* (options) {
        await process.pass("model");
        yield* step(options);
      };
    });
    return {
      model,
      run: async (name, { threadId, key }) => {
        this.ran.push({ threadId, name, key, at: this.log.length });
        process.store.strike("running");
        await process.pass(name);
        return "done";
      },
    };
  }
}

/** Two processes at one tree. A dead one is replaced when an operation needs it. */
class TreeStory {
  readonly world: TreeWorld;
  readonly #plan: TreePlan;
  readonly #processes: ScheduledProcess[] = [];
  readonly #failures: unknown[] = [];

  constructor(plan: TreePlan) {
    this.#plan = plan;
    this.world = new TreeWorld(plan);
  }

  async play(): Promise<void> {
    const first = this.#start(0);
    this.#command(async () => {
      await first.harness.createThread();
      await first.harness.post({ content: "DO 0", delivery: "send" });
    });
    while (this.world.log.length < 2) await this.world.step(SHORT_MS);
    this.#open(this.#start(1));
    for (const op of this.#plan.ops) {
      if (op.soon) await this.world.interfere(() => this.#do(op));
      else {
        while (await this.world.step(SHORT_MS));
        this.#do(op);
      }
    }
    await this.world.settle();
    await this.#end();
    if (this.#failures.length > 0) throw this.#failures[0];
    auditTree(this.world.tree, this.world.log, this.world.ran);
    auditEnds(this.world.log);
    const left = [...this.world.data.threads.values()].filter(({ record }) => record.active);
    assert.deepEqual(
      left.map(({ record }) => record.id),
      [],
      "a thread is left",
    );
  }

  #start(who: 0 | 1): ScheduledProcess {
    return (this.#processes[who] = this.world.start());
  }

  #open({ harness }: ScheduledProcess): void {
    this.#command(() => harness.switchThread({ threadId: ROOT }));
  }

  /** A person at the thread of a subagent. */
  #below({ who, which }: { who: 0 | 1; which: number }, give: (session: Session) => Promise<unknown>): void {
    const { harness } = this.#processes[who]!;
    const children = [...this.world.data.threads.keys()].filter((id) => id !== ROOT);
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
      case "rule": {
        const { toolName, policy } = op;
        if (op.in === "top") return this.#command(() => harness.setPermissionForTool({ toolName, policy }));
        return this.#below(op, (session) => session.setPermissionForTool({ toolName, policy }));
      }
      case "talk":
        return this.#below(op, (session) => session.post({ content: "DO 9", delivery: "send" }));
      case "resume":
        return this.#command(() => harness.resume());
      case "restart":
        this.#command(() => harness.close());
        return this.#open(this.#start(op.who));
      case "yolo":
        return this.#command(() => harness.setState({ yolo: op.on }));
      case "mode":
        return this.#command(() => harness.switchMode({ modeId: modeId(op.mode) }));
      case "answer": {
        const pending = Object.values(harness.getDisplayState().pendingApprovals);
        const one = pending[op.which % pending.length];
        if (!one) return;
        const { threadId, toolCallId, decisions } = one;
        const decision = decisions.includes(op.decision) ? op.decision : "approve";
        return this.#command(() => harness.respondToToolApproval({ threadId, toolCallId, decision }));
      }
      case "abort":
        return this.#command(() => harness.abort());
      case "wait":
        return;
      case "die":
        return store.dieAt({ operations: op.operations, place: op.place });
    }
  }

  /** A last process opens the tree, and answers until everything has ended. A turn that a person began in a subagent is at its thread. */
  async #end(): Promise<void> {
    for (const process of this.#processes) if (!process.dead) process.die();
    const { harness } = this.world.start();
    for (const threadId of [ROOT, ...this.world.data.threads.keys()]) {
      if (!this.world.data.threads.get(threadId)!.record.active) continue;
      const seats: Session[] = [];
      this.#command(async () => seats.push(await harness.createSession({ threadId })));
      await this.world.settle();
      assert.ok(seats[0], `${threadId} could not be opened`);
      await this.#answer(seats[0]);
    }
  }

  async #answer(seat: Session): Promise<void> {
    // After an abort, notes that were queued wait for resume().
    const isOver = () => seat.getDisplayState().status === "idle" && seat.getDisplayState().inbox.length === 0;
    for (let round = 0; !isOver(); round++) {
      const { status, pendingApprovals } = seat.getDisplayState();
      assert.notEqual(status, "running", "the tree hangs");
      assert.ok(round < 100, "the questions do not end");
      this.#command(() => seat.resume());
      for (const { threadId, toolCallId } of Object.values(pendingApprovals))
        this.#command(() => seat.respondToToolApproval({ threadId, toolCallId, decision: "approve" }));
      await this.world.settle();
    }
  }
}

test("a denied tool never runs in a tree: whatever the rules of its levels, the modes, the answers, the order and the crashes", async (t) => {
  hashAtOnce(t);
  let ran = 0;
  const property = fc.asyncProperty(treePlans, async (plan) => {
    const story = new TreeStory(plan);
    try {
      await story.play();
    } catch (error) {
      const lines = story.world.log.map(line).join("\n");
      throw new Error(`${inspect(plan, { depth: 9, breakLength: 160 })}\n${lines}`, { cause: error });
    }
    ran += story.world.ran.length;
  });
  // More of them find more: DENIED_RUNS=20000 takes some minutes.
  await fc.assert(property, { numRuns: Number(process.env["DENIED_RUNS"] ?? 60) });
  assert.ok(ran > 0);
});

function line({ seq, type, threadId, ...event }: DurableEvent): string {
  const rest = { ...event, v: undefined, at: undefined };
  return `${threadId.slice(0, 9)} ${String(seq).padStart(4)} ${type} ${JSON.stringify(rest).slice(0, 200)}`;
}
