import type { HarnessDisplayState } from "@cinch/core";
import { line, type Line } from "../../terminal/line.ts";
import { ageOf } from "../../threads/list-threads.ts";
import { formatCost, formatCount, formatPlural, formatShare } from "../../views/format.ts";
import type { AppCommand, CommandScreen } from "./command.ts";
import { blockTexts, type ShownBlock } from "./memory-blocks.ts";
import { present } from "./present.ts";
import { headingLine } from "./columns.ts";

export const memoryCommand: AppCommand = {
  name: "memory",
  description: "show what the memory wrote down, and how full it is",
  async run(_argument, context) {
    const { project, session } = context;
    if (session.getCurrentModelId() === "offline")
      return context.say("The offline model has no memory: its prompts hold every message. /model changes the model.");
    const { memory } = await session.explainContext();
    const { blocks, buffered } = await blockTexts(project.store, session.getCurrentThreadId()!);
    const screen = context.screen();
    const lines = [
      ...fullness(context.display().omProgress),
      line(standing({ blocks: blocks.length, buffered })),
      line(`The memory itself has used ${formatCost(memory.cost)}.`, { dim: true }),
      ...blocks.flatMap((block) => blockLines(block, screen)),
    ];
    await present(context, { title: "Memory", lines });
  },
};

function standing({ blocks, buffered }: { blocks: number; buffered: number }): string {
  const ready = buffered === 0 ? "" : ` ${formatPlural(buffered, "observation")} of newer ones can follow.`;
  if (blocks === 0) return `The prompt still holds every message.${ready}`;
  return `${formatPlural(blocks, "text")} in the prompt ${blocks === 1 ? "stands" : "stand"} for older messages.${ready}`;
}

function fullness(progress: HarnessDisplayState["omProgress"]): Line[] {
  if (!progress) return [line("How full it is, is known after the next step.", { dim: true })];
  const { messageTokens, messageLimit, observationTokens, observationLimit } = progress;
  return [
    line(`messages      ${used(messageTokens, messageLimit)}; then they are observed`),
    line(`observations  ${used(observationTokens, observationLimit)}; then they are shortened`),
  ];
}

const used = (tokens: number, limit: number): string =>
  `${formatCount(tokens)} of ${formatCount(limit)} tokens (${formatShare(limit === 0 ? 0 : tokens / limit)})`;

const KINDS: Readonly<Record<ShownBlock["kind"], string>> = {
  observation: "Observation",
  reflection: "Reflection",
  summary: "Summary",
  left_out: "Left out",
};

function blockLines({ kind, tokens, at, text }: ShownBlock, { now }: CommandScreen): Line[] {
  const title = headingLine(`${KINDS[kind]} · ${ageOf(now - at)} · ${formatCount(tokens)} tokens`);
  const rows = text === "" ? [] : text.trimEnd().split("\n");
  return [title, ...rows.map((row) => line(`  ${row}`))];
}
