import type { Budget, HarnessDisplayState } from "@cinch/core";
import { formatCost, formatCount, formatDuration } from "../../views/format.ts";
import { hasKnownPrice } from "../../models/known-price.ts";
import type { AppCommand } from "./command.ts";

export const budgetCommand: AppCommand = {
  name: "budget",
  description: "show or set what a turn and the thread may use",
  argument: "[[thread] DOLLARS|none]",
  run(argument, context) {
    const { project, session } = context;
    const given = argument.trim();
    if (given !== "") {
      const next = changedBudget(project.config.budget, given);
      if (!next)
        return context.say(
          `"${given}" is no amount of dollars. Write /budget 2 for a turn, /budget thread 20 for all turns, /budget none for no limit.`,
        );
      const modelId = session.getCurrentModelId();
      if (!isNone(given) && !hasKnownPrice(modelId, project.config.prices))
        return context.say(
          `The price of "${modelId}" is unknown, so no limit in dollars can be kept. Add the price to "prices" in your configuration, or choose another model with /model.`,
        );
      project.harness.setBudget(next);
      project.config.budget = next;
    }
    const { thread = {}, ...turn } = project.config.budget;
    context.say(
      `This thread has used ${spentText(context.display())}. A turn may use ${limitsText(turn)}, the thread ${limitsText(thread)}.`,
    );
    if (given === "")
      context.say(
        "/budget 5, /budget thread 20 and /budget none change that until you leave; --budget and the configuration, for good.",
      );
  },
};

const isNone = (given: string): boolean => /^(thread\s+)?none$/.test(given);

/** `undefined`: no amount. */
function changedBudget(budget: Budget, given: string): Budget | undefined {
  if (isNone(given)) return withoutCost(budget, given === "none" ? "all" : "thread");
  const [, scope, amount] = /^(thread\s+)?\$?(\d+(?:\.\d+)?)$/.exec(given) ?? [];
  const cost = Number(amount);
  if (!(cost > 0)) return undefined;
  return scope === undefined ? { ...budget, cost } : { ...budget, thread: { ...budget.thread, cost } };
}

function withoutCost({ thread, ...turn }: Budget, scope: "all" | "thread"): Budget {
  const { cost: _turn, ...restOfTurn } = turn;
  const { cost: _thread, ...restOfThread } = thread ?? {};
  return { ...(scope === "all" ? restOfTurn : turn), thread: restOfThread };
}

function spentText({ tokenUsage, cost }: HarnessDisplayState): string {
  if (tokenUsage.inputTokens + tokenUsage.outputTokens === 0) return "nothing";
  return cost === null ? "an unknown sum" : formatCost(cost);
}

function limitsText({ steps, tokens, cost, wallMs }: Omit<Budget, "thread">): string {
  const limits = [
    ...(cost === undefined ? [] : [`$${cost}`]),
    ...(tokens === undefined ? [] : [`${formatCount(tokens)} tokens`]),
    ...(steps === undefined ? [] : [`${steps} steps`]),
    ...(wallMs === undefined ? [] : [`${formatDuration(wallMs)} of work`]),
  ];
  return limits.length === 0 ? "any amount" : limits.join(", ");
}
