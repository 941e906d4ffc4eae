import assert from "node:assert/strict";
import type { DurableEvent } from "@cinch/core";
import { threadLimit, turnLimit, type BudgetSpec } from "./budget-tree-plan.ts";

/** What a limit applies to: a turn with the runs below it, or a whole thread with those. */
interface Scope {
  name: string;
  limits: readonly number[];
  used: number;
  /** How many events the log had when the first limit was reached. */
  reachedAt: number | null;
  /** Of a turn. */
  threadId: string | null;
  isReverted: boolean;
}

/** Counts from the journals alone what each turn and each thread of a tree has used, event by event. */
class Ledger {
  readonly #tree: BudgetSpec;
  readonly #scopes = new Map<string, Scope>();
  /** The turn that started a run, by run id. */
  readonly #startedBy = new Map<string, { threadId: string; turnId: string }>();
  /** The run that a turn works on, by turn id. */
  readonly #runOf = new Map<string, string>();
  readonly #depths = new Map<string, number>();

  constructor(tree: BudgetSpec) {
    this.#tree = tree;
  }

  add(event: DurableEvent, at: number): void {
    const { threadId } = event;
    const agent = event.type === "thread_created" || event.type === "thread_cloned" ? event.agent : undefined;
    if (agent) this.#depths.set(threadId, agent.path.length);
    if (event.type === "subagent_start") this.#startedBy.set(event.runId, { threadId, turnId: event.turnId! });
    if (event.type === "input_taken" && this.#startedBy.has(event.inputId))
      this.#runOf.set(event.turnId!, event.inputId);
    // What a turn used before it was reverted in part is forgotten. The thread keeps it.
    if (event.type === "thread_rewound") for (const scope of this.#turnsOf(threadId)) scope.isReverted = true;
    if (event.type !== "usage_update") return;
    for (const scope of this.scopes(threadId, event.turnId!)) {
      scope.used += event.usage.inputTokens + event.usage.outputTokens;
      if (scope.limits.some((limit) => scope.used >= limit)) scope.reachedAt ??= at;
    }
  }

  /** Everything that an answer in this turn counts for. */
  scopes(threadId: string, turnId: string): Scope[] {
    const depth = this.#depths.get(threadId) ?? 0;
    const { forked, levels } = this.#tree;
    // A fork has the budgets of its parent, too.
    const depths = forked && depth === levels.length ? [depth, depth - 1] : [depth];
    const limits = depths.flatMap((one) => this.#turnLimits(one));
    const threadLimits = depths.flatMap((one) => this.#threadLimits(one));
    const own = [
      this.#scope({ name: turnId, limits, threadId }),
      this.#scope({ name: threadId, limits: threadLimits, threadId: null }),
    ];
    const owner = this.#startedBy.get(this.#runOf.get(turnId) ?? "");
    return owner ? [...own, ...this.scopes(owner.threadId, owner.turnId)] : own;
  }

  #turnLimits(depth: number): number[] {
    const { perTurn, levels } = this.#tree;
    const steps = depth === 0 ? perTurn : (levels[depth - 1]?.perTurn ?? null);
    return steps === null ? [] : [turnLimit(steps, depth)];
  }

  #threadLimits(depth: number): number[] {
    const { perThread } = this.#tree;
    return depth === 0 && perThread !== null ? [threadLimit(perThread)] : [];
  }

  /** A thread that a person has continued is not charged to the one above, but stops when that one has used up its limit. */
  ofThread(threadId: string): Scope | undefined {
    return this.#scopes.get(threadId);
  }

  #turnsOf(threadId: string): Scope[] {
    return [...this.#scopes.values()].filter((scope) => scope.threadId === threadId);
  }

  #scope(of: Pick<Scope, "name" | "limits" | "threadId">): Scope {
    const scope = this.#scopes.get(of.name) ?? { ...of, used: 0, reachedAt: null, isReverted: false };
    this.#scopes.set(of.name, scope);
    return scope;
  }
}

/** Throws if a step began after a limit was reached that it counts for, or if a turn has ended at a limit that was not reached. */
export function auditBudgets(tree: BudgetSpec, log: readonly DurableEvent[], rootId: string): number {
  const ledger = new Ledger(tree);
  const late = new Map<string, number>();
  const begun = new Map<string, number>();
  let ends = 0;
  for (const [at, event] of log.entries()) {
    if (event.type === "agent_start" && !begun.has(event.turnId!)) begun.set(event.turnId!, at);
    if (event.type === "usage_update")
      for (const { name, limits, used, reachedAt, isReverted } of ledger.scopes(event.threadId, event.turnId!)) {
        if (reachedAt === null || isReverted) continue;
        const where = `${event.threadId} (${event.turnId}) at ${at}: ${used} of ${limits} of ${name}, reached at ${reachedAt}`;
        assert.ok(begun.get(event.turnId!)! < reachedAt, `a turn has begun with a step: ${where}`);
        const steps = `${name} ${event.turnId}`;
        assert.ok(!late.has(steps), `a second step: ${where}`);
        late.set(steps, at);
      }
    ledger.add(event, at);
    if (event.type !== "agent_end" || event.reason !== "budget") continue;
    ends++;
    const [, counted, limit] = /^(\d+) of (\d+) tokens/.exec(event.detail ?? "") ?? [];
    const scopes = [...ledger.scopes(event.threadId, event.turnId!), ledger.ofThread(rootId)];
    const isUsed = scopes.some((one) => one?.limits.includes(Number(limit)) && one.used >= Number(counted));
    assert.ok(isUsed, `the turn has ended at ${at} too early: ${event.detail}`);
  }
  return ends;
}
