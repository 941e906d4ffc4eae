import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { HarnessConfig, Session } from "@cinch/core";
import * as fc from "fast-check";
import { hashAtOnce, type ScheduledProcess } from "../scheduled.ts";
import { auditEnds, auditTree, type TreeRun } from "./denied-tree-oracle.ts";
import { configOf, modeId, stepFor, treePlans, type Op, type TreePlan, type TreeSpec } from "./denied-tree-plan.ts";
import { isOver, line, TreeStory } from "./tree-story.ts";

class DeniedStory extends TreeStory<Op> {
  protected readonly expected = ["NOT_PENDING", "ALREADY_ANSWERED", "CLOSED", "THREAD_NOT_FOUND"];
  readonly ran: TreeRun[] = [];
  readonly #tree: TreeSpec;

  constructor(plan: TreePlan) {
    super(plan);
    this.#tree = plan.tree;
  }

  async play(): Promise<void> {
    await this.playTree();
    auditTree(this.#tree, this.log, this.ran);
    auditEnds(this.log);
  }

  protected configOf(process: ScheduledProcess): HarnessConfig {
    const model = this.modelOf(process, (prompt) => stepFor(this.#tree, prompt));
    const run: Parameters<typeof configOf>[1]["run"] = async (name, { threadId, key }) => {
      this.ran.push({ threadId, name, key, at: this.log.length });
      process.store.strike("running");
      await process.pass(name);
      return "done";
    };
    return { ...configOf(this.#tree, { model, run }), onAsk: "wait" };
  }

  protected act(op: Op, { harness }: ScheduledProcess): void {
    switch (op.do) {
      case "rule": {
        const { toolName, policy } = op;
        if (op.in === "top") return this.command(() => harness.setPermissionForTool({ toolName, policy }));
        return this.below(op, (session) => session.setPermissionForTool({ toolName, policy }));
      }
      case "talk":
        return this.below(op, (session) => session.post({ content: "DO 9", delivery: "send" }));
      case "yolo":
        return this.command(() => harness.setState({ yolo: op.on }));
      case "mode":
        return this.command(() => harness.switchMode({ modeId: modeId(op.mode) }));
      case "answer": {
        const pending = Object.values(harness.getDisplayState().pendingApprovals);
        const one = pending[op.which % pending.length];
        if (!one) return;
        const { threadId, toolCallId, decisions } = one;
        const decision = decisions.includes(op.decision) ? op.decision : "approve";
        return this.command(() => harness.respondToToolApproval({ threadId, toolCallId, decision }));
      }
      case "abort":
        return this.command(() => harness.abort());
    }
  }

  protected async end(seat: Session): Promise<void> {
    for (let round = 0; !isOver(seat); round++) {
      const { status, pendingApprovals } = seat.getDisplayState();
      assert.notEqual(status, "running", "the tree hangs");
      assert.ok(round < 100, "the questions do not end");
      this.command(() => seat.resume());
      for (const { threadId, toolCallId } of Object.values(pendingApprovals))
        this.command(() => seat.respondToToolApproval({ threadId, toolCallId, decision: "approve" }));
      await this.settle();
    }
  }
}

test("a denied tool never runs in a tree: whatever the rules of its levels, the modes, the answers, the order and the crashes", async (t) => {
  hashAtOnce(t);
  let ran = 0;
  const property = fc.asyncProperty(treePlans, async (plan) => {
    const story = new DeniedStory(plan);
    try {
      await story.play();
    } catch (error) {
      const lines = story.log.map(line).join("\n");
      throw new Error(`${inspect(plan, { depth: 9, breakLength: 160 })}\n${lines}`, { cause: error });
    }
    ran += story.ran.length;
  });
  // More of them find more: DENIED_RUNS=20000 takes some minutes.
  await fc.assert(property, { numRuns: Number(process.env["DENIED_RUNS"] ?? 60) });
  assert.ok(ran > 0);
});
