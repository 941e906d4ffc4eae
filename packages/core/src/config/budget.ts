import * as z from "zod/mini";
import type { ThreadState } from "../folds/state.ts";
import { tokensOf } from "../events/usage.ts";

const limit = z.optional(z.number().check(z.gt(0)));
const limits = { steps: limit, tokens: limit, cost: limit, wallMs: limit };

/** What a turn may use; under `thread`, what all turns of a thread together may use. */
export const Budget = z.strictObject({ ...limits, thread: z.optional(z.strictObject(limits)) });
export type Budget = z.infer<typeof Budget>;
type Limits = Omit<Budget, "thread">;
type Used = Record<keyof Limits, number>;

const UNITS: Record<keyof Limits, string> = {
  steps: "steps",
  tokens: "tokens",
  cost: "dollars",
  wallMs: "ms of work",
};

/** What subagents that have not ended have used so far. */
export interface Spending {
  tokens: number;
  cost: number;
}

/** Describes the limit that is reached. `null`: the driver may ask the model. `spentBelow` is called only if there is a limit. */
export function exhausted(
  state: ThreadState,
  budgets: readonly Budget[],
  { now, spentBelow }: { now: number; spentBelow: () => Spending },
): string | null {
  const { turn, usage, spent } = state;
  if (!turn || budgets.length === 0) return null;
  const below = spentBelow();
  const { steps, tokens, cost, watch } = turn;
  const sinceMs = Math.max(0, now - watch.at);
  const inTurn = { steps, tokens: tokens + below.tokens, cost: cost + below.cost, wallMs: watch.ms + sinceMs };
  const inThread = {
    steps: spent.steps,
    tokens: tokensOf(usage) + below.tokens,
    cost: spent.cost + below.cost,
    wallMs: spent.ms + sinceMs,
  };
  for (const { thread = {}, ...limitsOfTurn } of budgets) {
    const reached = reachedLimit(inTurn, limitsOfTurn, "a turn") ?? reachedLimit(inThread, thread, "the thread");
    if (reached) return reached;
  }
  return null;
}

/** The same while there is no turn: only what all turns together may use counts. */
export function exhaustedThread({ usage, spent }: ThreadState, budgets: readonly Budget[]): string | null {
  const used = { steps: spent.steps, tokens: tokensOf(usage), cost: spent.cost, wallMs: spent.ms };
  const reached = budgets.flatMap(({ thread = {} }) => reachedLimit(used, thread, "the thread") ?? []);
  return reached[0] ?? null;
}

function reachedLimit(used: Used, limitsOf: Limits, scope: string): string | null {
  for (const key of Object.keys(UNITS) as (keyof Limits)[]) {
    const max = limitsOf[key];
    if (max !== undefined && used[key] >= max) return `${round(used[key])} of ${max} ${UNITS[key]} for ${scope}`;
  }
  return null;
}

const round = (value: number): number => Math.round(value * 10_000) / 10_000;

/** Whether a limit in dollars is set, which needs the price of the model. */
export const limitsCost = (budgets: readonly Budget[]): boolean =>
  budgets.some(({ cost, thread }) => cost !== undefined || thread?.cost !== undefined);
