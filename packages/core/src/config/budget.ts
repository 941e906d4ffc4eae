import * as z from "zod/mini";

const limit = z.optional(z.number().check(z.gt(0)));
const limits = { steps: limit, tokens: limit, cost: limit, wallMs: limit };

/** What a turn may use; under `thread`, what all turns of a thread together may use. */
export const Budget = z.strictObject({ ...limits, thread: z.optional(z.strictObject(limits)) });
export type Budget = z.infer<typeof Budget>;
type Limits = Omit<Budget, "thread">;
/** What counts against the limits. */
export type Used = Record<keyof Limits, number>;

const UNITS: Record<keyof Limits, string> = {
  steps: "steps",
  tokens: "tokens",
  cost: "dollars",
  wallMs: "ms of work",
};

/** Describes the limit that is reached. `null`: the driver may ask the model. `turn`: `null` if the model is not asked in a turn. */
export function exhausted(
  { turn, thread: inThread }: { turn: Used | null; thread: Used },
  budgets: readonly Budget[],
): string | null {
  for (const { thread = {}, ...limitsOfTurn } of budgets) {
    const inTurn = turn && reachedLimit(turn, limitsOfTurn, "a turn");
    const reached = inTurn ?? reachedLimit(inThread, thread, "the thread");
    if (reached) return reached;
  }
  return null;
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
