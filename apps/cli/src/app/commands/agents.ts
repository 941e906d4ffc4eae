import type { ActiveSubagent, ThreadRecord } from "@cinch/core";
import { short } from "../../terminal/sanitise.ts";
import { ageOf } from "../../threads/list-threads.ts";
import { mainArgument } from "../../views/call-argument.ts";
import { formatCount, formatElapsed } from "../../views/format.ts";
import { transcriptLines } from "./child-transcript.ts";
import type { AppCommand, CommandContext, PickItem } from "./command.ts";

export const agentsCommand: AppCommand = {
  name: "agents",
  description: "see the subagents of this thread and what each does",
  async run(_argument, context) {
    const items = await agentItems(context);
    if (items.length === 0)
      return context.say(
        "This thread has no subagents yet. The agent starts one when a part of the work stands alone.",
      );
    const threadId = await context.pick({ title: "Subagents: Enter shows what one did", items });
    if (threadId !== undefined) await showAgent(threadId, context);
  },
};

/** Opens the transcript of a subagent in the pager. */
export async function showAgent(threadId: string, context: CommandContext): Promise<void> {
  const { store } = context.project;
  const record = await store.thread(threadId);
  if (!record) return context.say("The thread of this subagent was deleted.");
  await context.page({ title: record.title, lines: await transcriptLines(store, record, context.screen()) });
}

/** Those at work first, with their subagents; then the children that have ended. */
async function agentItems(context: CommandContext): Promise<PickItem<string>[]> {
  const { session } = context;
  const { threadId, activeSubagents } = context.display();
  const { now } = context.screen();
  const active = Object.values(activeSubagents);
  const children = threadId === null ? [] : await session.listThreads({ parentId: threadId });
  const ended = children.filter(({ id }) => !Object.hasOwn(activeSubagents, id));
  return [
    ...active.filter(({ endedAt }) => endedAt === null).map((one) => activeItem(one, now)),
    ...active.filter(({ endedAt }) => endedAt !== null).map((one) => activeItem(one, now)),
    ...ended.map((record) => endedItem(record, now)),
  ];
}

export function activeItem(one: ActiveSubagent, now: number): PickItem<string> {
  const { threadId, path, task, agentId, startedAt, durationMs, usage } = one;
  const used = usage.inputTokens + usage.outputTokens;
  return {
    value: threadId,
    label: `${path.join(" › ")}${agentId === null ? "" : ` ${agentId}`}: ${short(task, 60)}`,
    details: [doingOf(one), formatElapsed(durationMs ?? now - startedAt), used === 0 ? "" : `${formatCount(used)} tok`],
  };
}

const endedItem = ({ id, title, updatedAt }: ThreadRecord, now: number): PickItem<string> => ({
  value: id,
  label: short(title, 60),
  details: ["ended", ageOf(now - updatedAt)],
});

/** Its question, its newest call, or its state. */
function doingOf({ endedAt, status, toolCalls, pendingApprovals, pendingSuspensions }: ActiveSubagent): string {
  if (endedAt !== null) return status === "complete" ? "ended" : status;
  const question = Object.values(pendingApprovals)[0] ?? Object.values(pendingSuspensions)[0];
  if (question) return `asks you: ${callText(question)}`;
  const call = toolCalls.findLast(({ isError }) => isError === null);
  return call ? callText(call) : status;
}

const callText = ({ toolName, args }: Pick<ActiveSubagent["toolCalls"][number], "toolName" | "args">): string =>
  short(`${toolName} ${mainArgument(toolName, args)}`, 40);
