import { textOf, type FileDiff, type HarnessMessage, type RewindResult, type RewoundFile } from "@cinch/core";
import { line, type Line } from "../../terminal/line.ts";
import { short } from "../../terminal/sanitise.ts";
import { diffCounts, diffHunks } from "../../text/diff.ts";
import { ageOf } from "../../threads/list-threads.ts";
import { formatPlural } from "../../views/format.ts";
import { changesSince, countChanged } from "./changed-files.ts";
import type { AppCommand, CommandContext, PickItem, PickWay } from "./command.ts";
import { confirm } from "./confirm.ts";

/** How many messages the list has. */
const LISTED = 200;

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

export const rewindCommand: AppCommand = {
  name: "rewind",
  description: "revert messages, files, or both",
  run: (_argument, context) => rewindByList(context),
};

/** Reverts a message of the user and all that came after it: the conversation, the files, or both. */
export async function rewindByList(context: CommandContext): Promise<void> {
  const items = await messageItems(context);
  if (items.length === 0) return context.say("There is no message to rewind to yet.");
  const preview = async ({ value }: PickItem<Rewind>) => [line(await previewOf(value, context))];
  const chosen = await context.pick({ title: "Rewind to before", items, ways: WAYS, preview });
  if (chosen && (await mayEndTurn(context))) await rewind(chosen, context);
}

/** A rewind ends the turn. */
async function mayEndTurn(context: CommandContext): Promise<boolean> {
  if (context.display().turnId === null) return true;
  return confirm(context, "A turn is not finished. End it and rewind?", "Yes, end it and rewind");
}

async function messageItems(context: CommandContext): Promise<PickItem<Rewind>[]> {
  const { session, project } = context;
  const messages = (await session.listMessages({ limit: LISTED })).filter(({ role }) => role === "user");
  const [oldest] = messages;
  if (!oldest) return [];
  const changes = await changesSince(project.store, session.getCurrentThreadId()!, oldest);
  const { now } = context.screen();
  return messages.toReversed().map((message) => {
    const count = countChanged(changes, message.at);
    return {
      value: { message, conversation: true, files: true },
      label: short(textOf(message.content)) || "(no text)",
      details: [ageOf(now - message.at), count === 0 ? "no files" : formatPlural(count, "file")],
    };
  });
}

async function previewOf(asked: Rewind, { session }: CommandContext): Promise<string> {
  const options = optionsOf(asked);
  const result = await session.rewind({ ...options, dryRun: true });
  const diffs = asked.files ? await session.diff({ since: options.toSeq }) : [];
  return described(result, { asked, diffs });
}

async function rewind(asked: Rewind, context: CommandContext): Promise<void> {
  const { session } = context;
  const diffs = asked.files ? await session.diff({ since: optionsOf(asked).toSeq }) : [];
  const result = await session.rewind(optionsOf(asked));
  if (asked.conversation) {
    context.showThread();
    context.compose(textOf(asked.message.content));
  }
  context.print(rewoundLines(result, described(result, { asked, diffs })));
}

const optionsOf = ({ message, conversation, files }: Rewind) => ({ toSeq: message.seq - 1, conversation, files });

function rewoundLines({ files, untracked }: RewindResult, about: string): Line[] {
  const kept = files.filter(({ outcome }) => outcome === "conflict").length;
  const hint = "What another program changed was kept: compare it with /diff, or revert it by hand.";
  return [
    line(`Reverted: ${about}`, { dim: true }),
    ...(kept > 0 ? [line(hint, { color: "yellow" })] : []),
    ...untracked.map((why) => line(`Not reverted: ${why}`, { color: "yellow" })),
  ];
}

/** `2 messages · src/sum.ts −1 +1 · sum.test.ts deleted · notes.md CHANGED SINCE: kept` */
function described(
  { messages, files }: RewindResult,
  { asked, diffs }: { asked: Rewind; diffs: readonly FileDiff[] },
): string {
  const byPath = new Map(diffs.map((diff) => [diff.path, diff]));
  const parts = [
    ...(asked.conversation ? [formatPlural(messages, "message")] : []),
    ...files.flatMap((file) => fileText(file, byPath.get(file.path))),
    ...(asked.files && files.length === 0 ? ["no files"] : []),
  ];
  return parts.join(" · ");
}

function fileText({ path, outcome, detail }: RewoundFile, diff: FileDiff | undefined): string[] {
  const name = path.replace(/^\//, "");
  switch (outcome) {
    case "restored":
      return [`${name} ${countsOf(diff)}`];
    case "deleted":
      return [`${name} deleted`];
    case "unchanged":
      return [];
    case "conflict":
      return [`${name} CHANGED SINCE: kept`];
    case "lost":
      return [`${name} LOST: its earlier contents were not kept`];
    case "failed":
      return [`${name} FAILED${detail === undefined ? "" : `: ${detail}`}`];
  }
}

/** What a rewind removes is what the thread added. */
function countsOf(diff: FileDiff | undefined): string {
  if (!diff || diff.diff === "") return "restored";
  if (diff.status === "deleted") return "restored";
  const { added, removed } = diffCounts(diffHunks(diff.diff));
  return `−${added} +${removed}`;
}
