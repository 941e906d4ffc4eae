import { textOf, type FileDiff, type HarnessMessage, type RewindResult, type RewoundFile } from "@cinch/core";
import { line, type Line } from "../../terminal/line.ts";
import { short } from "../../terminal/sanitise.ts";
import { diffCounts, diffHunks } from "../../text/diff.ts";
import { wrapLines } from "../../text/wrap.ts";
import { ageOf } from "../../threads/list-threads.ts";
import { formatPlural } from "../../views/format.ts";
import { roomOf, span } from "../../views/spans.ts";
import { changesSince, countChanged } from "./changed-files.ts";
import type { AppCommand, CommandContext, PickItem, PickWay } from "./command.ts";
import { confirm } from "./confirm.ts";
import { messagesBackwards } from "./messages-backwards.ts";

/** How many messages of the user the list has. */
const LISTED = 200;
/** How many files are named that are reverted as expected. */
const SHOWN_FILES = 8;

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
  const preview = ({ value }: PickItem<Rewind>) => previewOf(value, context);
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
  const messages = await newestOfUser(context);
  const oldest = messages.at(-1);
  if (!oldest) return [];
  const changes = await changesSince(project.store, session.getCurrentThreadId()!, oldest);
  const { now } = context.screen();
  return messages.map((message) => {
    const count = countChanged(changes, message.at);
    return {
      value: { message, conversation: true, files: true },
      label: short(textOf(message.content)) || "(no text)",
      details: [ageOf(now - message.at), count === 0 ? "no files" : formatPlural(count, "file")],
    };
  });
}

/** Newest first. */
async function newestOfUser({ session }: CommandContext): Promise<HarnessMessage[]> {
  const found: HarnessMessage[] = [];
  for await (const message of messagesBackwards(session)) {
    if (message.role === "user") found.push(message);
    if (found.length === LISTED) break;
  }
  return found;
}

async function previewOf(asked: Rewind, context: CommandContext): Promise<Line[]> {
  const { session } = context;
  const options = optionsOf(asked);
  const result = await session.rewind({ ...options, dryRun: true });
  const diffs = asked.files ? await session.diff({ since: options.toSeq }) : [];
  const about = described(result, { asked, diffs });
  return [...wrapLines([span(about)], roomOf(context.screen())), ...untrackedLines(result)];
}

async function rewind(asked: Rewind, context: CommandContext): Promise<void> {
  const { session } = context;
  const diffs = asked.files ? await session.diff({ since: optionsOf(asked).toSeq }) : [];
  const result = await session.rewind(optionsOf(asked));
  if (asked.conversation) context.compose(textOf(asked.message.content));
  context.print(rewoundLines(result, described(result, { asked, diffs })));
}

const optionsOf = ({ message, conversation, files }: Rewind) => ({ toSeq: message.seq - 1, conversation, files });

function rewoundLines(result: RewindResult, about: string): Line[] {
  const kept = result.files.filter(({ outcome }) => outcome === "conflict").length;
  const hint = "What another program changed was kept: compare it with /diff, or revert it by hand.";
  return [
    line(`Reverted: ${about}`, { dim: true }),
    ...(kept > 0 ? [line(hint, { color: "yellow" })] : []),
    ...untrackedLines(result),
  ];
}

const untrackedLines = ({ untracked }: RewindResult): Line[] =>
  untracked.map((why) => line(`Not reverted: ${why}`, { color: "yellow" }));

/** `2 messages · src/sum.ts −1 +1 · sum.test.ts deleted · notes.md CHANGED SINCE: kept`. What is not reverted is always shown. */
function described(
  { messages, files }: RewindResult,
  { asked, diffs }: { asked: Rewind; diffs: readonly FileDiff[] },
): string {
  const byPath = new Map(diffs.map((diff) => [diff.path, diff]));
  const changed = files.filter(({ outcome }) => outcome !== "unchanged");
  const reverted = changed.filter(isReverted);
  const others = changed.filter((file) => !isReverted(file));
  const shown = reverted.slice(0, reverted.length > SHOWN_FILES ? SHOWN_FILES - 1 : SHOWN_FILES);
  const more = reverted.length - shown.length;
  const parts = [
    ...(asked.conversation ? [formatPlural(messages, "message")] : []),
    ...shown.map((file) => fileText(file, byPath.get(file.path))),
    ...(more > 0 ? [`${more} more files`] : []),
    ...others.map((file) => fileText(file, undefined)),
    ...(asked.files && changed.length === 0 ? ["no files"] : []),
  ];
  return parts.join(" · ");
}

const isReverted = ({ outcome }: RewoundFile): boolean => outcome === "restored" || outcome === "deleted";

function fileText({ path, outcome, detail }: RewoundFile, diff: FileDiff | undefined): string {
  const name = path.replace(/^\//, "");
  switch (outcome) {
    case "restored":
      return `${name} ${countsOf(diff)}`;
    case "deleted":
    case "unchanged":
      return `${name} ${outcome}`;
    case "conflict":
      return `${name} CHANGED SINCE: kept`;
    case "lost":
      return `${name} LOST: its earlier contents were not kept`;
    case "failed":
      return `${name} FAILED${detail === undefined ? "" : `: ${detail}`}`;
  }
}

/** What a rewind removes is what the thread added. */
function countsOf(diff: FileDiff | undefined): string {
  if (!diff || diff.diff === "") return "restored";
  if (diff.status === "deleted") return "restored";
  const { added, removed } = diffCounts(diffHunks(diff.diff));
  return `−${added} +${removed}`;
}
