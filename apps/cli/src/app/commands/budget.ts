import type { Budget, HarnessDisplayState } from "@cinch/core";
import { formatCost, formatCount, formatDuration } from "../../views/format.ts";
import type { AppCommand } from "./command.ts";

export const budgetCommand: AppCommand = {
  name: "budget",
  description: "show what a turn and the thread may use",
  argument: "[DOLLARS]",
  run(argument, context) {
    const { budget } = context.project.config;
    const { thread = {}, ...turn } = budget;
    const given = argument.trim().replace(/^\$/, "");
    context.say(
      `This thread has used ${spentText(context.display())}. A turn may use ${limitsText(turn)}, the thread ${limitsText(thread)}.`,
    );
    if (given === "") return;
    const isAmount = /^\d+(\.\d+)?$/.test(given) && Number(given) > 0;
    context.say(
      isAmount
        ? `A budget is set when Cinch starts. To allow ${formatCost(Number(given))} a turn: /quit, then cinch --continue --budget ${given}`
        : `"${given}" is no amount of dollars. A budget is set when Cinch starts: cinch --continue --budget 2`,
    );
  },
};

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
