import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { CinchError, type HarnessConfig, type Session } from "@cinch/core";
import * as fc from "fast-check";
import { hashAtOnce, type ScheduledProcess } from "../scheduled.ts";
import { auditBudgets } from "./budget-tree-oracle.ts";
import { budgetPlans, configOf, stepFor, type BudgetPlan, type Op } from "./budget-tree-plan.ts";
import { isOver, line, ROOT, TreeStory } from "./tree-story.ts";

class BudgetStory extends TreeStory<Op> {
  protected readonly expected = ["CLOSED", "THREAD_NOT_FOUND"];
  readonly #plan: BudgetPlan;

  constructor(plan: BudgetPlan) {
    super(plan);
    this.#plan = plan;
  }

  /** Returns how many turns have ended at a limit. */
  async play(): Promise<number> {
    await this.playTree();
    return auditBudgets(this.#plan.tree, this.log, ROOT);
  }

  protected configOf(process: ScheduledProcess): HarnessConfig {
    const { tree } = this.#plan;
    const run = async () => {
      await process.pass("work");
      return "done";
    };
    return configOf(tree, { model: this.modelOf(process, (prompt) => stepFor(tree, prompt)), run });
  }

  protected act(op: Op, process: ScheduledProcess): void {
    switch (op.do) {
      case "talk":
        return this.below(op, (session) => session.post({ content: "DO 9", delivery: "follow_up" }));
      case "rewind": {
        const rewind = async (session: Session) => {
          const inForce = await session.listEvents({ limit: 1_000 });
          const event = inForce.at(-1 - op.back);
          // Another process may have reverted the event meanwhile.
          await (event && session.rewind({ toSeq: event.seq }).catch(unlessReverted));
        };
        const { which } = op;
        return which === null ? this.atRoot(process, rewind) : this.below({ ...op, which }, rewind);
      }
      case "again":
        return this.command(() => process.harness.post({ content: "DO 0", delivery: "follow_up" }));
    }
  }

  protected async end(seat: Session): Promise<void> {
    for (let round = 0; !isOver(seat); round++) {
      assert.ok(round < 20, "the tree hangs");
      this.command(() => seat.resume());
      await this.settle();
    }
  }
}

function unlessReverted(error: unknown): void {
  if (!(error instanceof CinchError && error.message.includes("which a rewind has reverted"))) throw error;
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
  // Of two processes, one has not read yet that the other has resumed a session.
  await fc.assert(property, { seed: 1759335449, path: "40", endOnFailure: true });
  // More of them find more: BUDGET_RUNS=5000 takes some minutes.
  await fc.assert(property, { numRuns: Number(process.env["BUDGET_RUNS"] ?? 60), endOnFailure: true });
  assert.ok(ends > 0);
});
