import type { Usage } from "@cinch/core";
import { line } from "../../terminal/line.ts";
import { formatCost, formatCount, formatShare } from "../../views/format.ts";
import type { AppCommand } from "./command.ts";
import { spendingOf } from "./spending.ts";
import { columnLines } from "./columns.ts";

export const costCommand: AppCommand = {
  name: "cost",
  description: "show the tokens and dollars of this thread, by model",
  async run(_argument, context) {
    const { threadId, tokenUsage, cost } = context.display();
    if (threadId === null || tokenUsage.inputTokens + tokenUsage.outputTokens === 0)
      return context.say("This thread has used nothing yet.");
    const rows = await spendingOf(context.project.store, threadId);
    context.print([
      line(`This thread has used ${tokensText(tokenUsage)}: ${costText(cost)}.`),
      ...columnLines(
        rows.map((row) => [row.name, costText(row.cost), tokensText(row.usage)]),
        context.screen(),
      ),
    ]);
    if (cost === null) context.say('The price of a model is unknown: add it under "prices" in your config.json.');
  },
};

function tokensText({ inputTokens, outputTokens, cacheReadTokens }: Usage): string {
  const cached = inputTokens === 0 ? 0 : cacheReadTokens / inputTokens;
  return `${formatCount(inputTokens)} tokens in (${formatShare(cached)} cached), ${formatCount(outputTokens)} out`;
}

const costText = (cost: number | null): string => (cost === null ? "cost unknown" : formatCost(cost));
