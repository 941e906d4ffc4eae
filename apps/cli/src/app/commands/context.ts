import type { ContextExplanation } from "@cinch/core";
import { line, type Line } from "../../terminal/line.ts";
import { formatCount, formatShare } from "../../views/format.ts";
import { dim, span } from "../../views/spans.ts";
import type { AppCommand, CommandScreen } from "./command.ts";
import { present } from "./present.ts";

const PARTS: Readonly<Record<keyof ContextExplanation["parts"], string>> = {
  instructions: "instructions",
  tools: "tools",
  skills: "skills",
  memory: "AGENTS.md and others",
  observations: "memory",
  messages: "messages",
  toolResults: "results of tools",
};
const NAME_COLUMNS = Math.max(...Object.values(PARTS).map((name) => name.length));
const MAX_BAR = 40;
const COUNT_COLUMNS = 6;

export const contextCommand: AppCommand = {
  name: "context",
  description: "show where the tokens of the prompt go",
  async run(_argument, context) {
    const explanation = await context.session.explainContext();
    await present(context, { title: "Context", lines: contextLines(explanation, context.screen()) });
  },
};

function contextLines({ modelId, window, total, parts, leftOut }: ContextExplanation, screen: CommandScreen): Line[] {
  const free = Math.max(0, window - total);
  const rows = Object.entries(PARTS).map(([part, name]) => ({ name, tokens: parts[part as keyof typeof parts] }));
  const left = leftOut.reduce((sum, { tokens }) => sum + tokens, 0);
  return [
    line(`The next prompt for ${modelId} has about ${formatCount(total)} of ${formatCount(window)} tokens.`, {
      bold: true,
    }),
    ...[...rows, { name: "free", tokens: free }].map((row) => barLine(row, window, screen)),
    ...(leftOut.length === 0
      ? []
      : [line(`${formatCount(left)} tokens of memory stand for older messages: /memory shows them.`, dim)]),
  ];
}

/** The bar says what the number says: it is left out where there is no room. */
function barLine({ name, tokens }: { name: string; tokens: number }, window: number, screen: CommandScreen): Line {
  const share = window === 0 ? 0 : tokens / window;
  const room = Math.min(MAX_BAR, screen.width - NAME_COLUMNS - COUNT_COLUMNS - 16);
  const length = room < 8 ? 0 : Math.min(room, Math.round(share * room));
  const bar = (screen.unicode ? "█" : "#").repeat(length);
  const count = formatCount(tokens).padStart(COUNT_COLUMNS);
  return {
    spans: [
      span(`  ${name.padEnd(NAME_COLUMNS)}  `, name === "free" ? dim : {}),
      span(`${count}  ${formatShare(share).padStart(5)}  `, dim),
      span(bar, name === "free" ? dim : { color: "cyan" }),
    ],
  };
}
