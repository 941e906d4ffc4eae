import * as z from "zod/mini";
import type { ThreadState } from "../folds/state.ts";
import { tokensOf } from "../events/usage.ts";

const limit = z.optional(z.number().check(z.gt(0)));
const limits = { steps: limit, tokens: limit, cost: limit, wallMs: limit };

/** What a turn may use up; and, under `thread`, all turns of a thread together. */
export const Budget = z.strictObject({ ...limits, thread: z.optional(z.strictObject(limits)) });
export type Budget = z.infer<typeof Budget>;
type Limits = Omit<Budget, "thread">;
type Used = Record<keyof Limits, number>;

const words: Record<keyof Limits, string> = {
  steps: "steps",
  tokens: "tokens",
  cost: "dollars",
  wallMs: "ms of work",
};

/** Which limit is reached, in words. `null`: the model may be asked. `now`: while a driver is at work. */
export function exhausted(state: ThreadState, budgets: readonly Budget[], now: number): string | null {
  const { turn, usage, spent } = state;
  if (!turn) return null;
  const { steps, tokens, cost, watch } = turn;
  const sinceMs = Math.max(0, now - watch.at);
  const inTurn = { steps, tokens, cost, wallMs: watch.ms + sinceMs };
  const inAll = { steps: spent.steps, tokens: tokensOf(usage), cost: spent.cost, wallMs: spent.ms + sinceMs };
  for (const { thread = {}, ...limitsOfTurn } of budgets) {
    const reached = over(inTurn, limitsOfTurn, "a turn") ?? over(inAll, thread, "the thread");
    if (reached) return reached;
  }
  return null;
}

function over(used: Used, limitsOf: Limits, what: string): string | null {
  for (const key of Object.keys(words) as (keyof Limits)[]) {
    const most = limitsOf[key];
    if (most !== undefined && used[key] >= most) return `${round(used[key])} of ${most} ${words[key]} for ${what}`;
  }
  return null;
}

const round = (value: number): number => Math.round(value * 10_000) / 10_000;

/** Whether a limit in dollars is set, which needs to know what the model costs. */
export const limitsCost = (budgets: readonly Budget[]): boolean =>
  budgets.some(({ cost, thread }) => cost !== undefined || thread?.cost !== undefined);
