import { textOf, type HarnessMessage, type RewindResult, type RewoundFile } from "@cinch/core";
import { line, type Line } from "../terminal/line.ts";
import { short } from "../terminal/sanitise.ts";
import { formatDuration } from "../views/format.ts";
import type { CommandContext, PickWay } from "./commands/command.ts";

interface Rewind {
  message: HarnessMessage;
  conversation: boolean;
  files: boolean;
}

const WAYS: readonly PickWay<Rewind>[] = [
  { key: "b", label: "both", value: (chosen) => ({ ...chosen, conversation: true, files: true }) },
  { key: "c", label: "conversation", value: (chosen) => ({ ...chosen, conversation: true, files: false }) },
  { key: "f", label: "files", value: (chosen) => ({ ...chosen, conversation: false, files: true }) },
];

/** Lets the user choose a message of their own, and reverts it with all that came after it. Its text returns to the composer. */
export async function rewindByList(context: CommandContext): Promise<void> {
  const { session } = context;
  const messages = (await session.listMessages({ limit: 200 })).filter(({ role }) => role === "user");
  if (messages.length === 0) return context.say("There is no message to rewind to.");
  const chosen = await context.pick<Rewind>({
    title: "Rewind to before",
    items: messages.toReversed().map((message) => ({
      value: { message, conversation: true, files: true },
      label: short(textOf(message.content)) || "(an image)",
      details: [formatDuration(Date.now() - message.at)],
    })),
    ways: WAYS,
    preview: async ({ value }) => {
      const { message, conversation, files } = value;
      return previewLines(await session.rewind({ toSeq: message.seq - 1, conversation, files, dryRun: true }), value);
    },
  });
  if (!chosen) return;
  const { message, conversation, files } = chosen;
  const result = await session.rewind({ toSeq: message.seq - 1, conversation, files });
  if (files) context.print(previewLines(result, chosen));
  if (conversation) context.compose(textOf(message.content));
}

const OUTCOMES: Record<RewoundFile["outcome"], string> = {
  restored: "restored",
  deleted: "deleted",
  unchanged: "unchanged",
  conflict: "CHANGED SINCE: kept",
  lost: "LOST: its earlier content was not kept",
  failed: "FAILED",
};

/** What a rewind does, or has done. */
function previewLines({ messages, files, untracked }: RewindResult, asked: Omit<Rewind, "message">): Line[] {
  const count = asked.conversation
    ? [line(`${messages} ${messages === 1 ? "message" : "messages"}`, { dim: true })]
    : [];
  if (!asked.files) return count;
  const shown = files.map(({ path, outcome }) => `${path.replace(/^\//, "")} ${OUTCOMES[outcome]}`);
  return [
    ...count,
    line(shown.length === 0 ? "no files" : shown.join(" · ")),
    ...untracked.map((why) => line(`not recorded: ${why}`, { color: "yellow" })),
  ];
}
