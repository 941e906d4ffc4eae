import type { InboxItem } from "@cinch/core";
import type { AppCommand, CommandContext } from "../app/commands/command.ts";
import { queuedErrorLine } from "../app/error-line.ts";
import type { Line } from "../terminal/line.ts";
import { short } from "../terminal/sanitise.ts";
import { formatTime } from "../views/format.ts";
import { newestCallLines, unfoldedLines } from "../views/unfolded.ts";

interface LineCommandsOptions {
  queue: (text: string) => Promise<void>;
  stop: () => Promise<void>;
  /** Sends the text that came back: of a rewind, or of a message that was not accepted. */
  resend: () => Promise<void>;
}

/** What is done by keys on a screen. */
export const lineCommands = ({ queue, stop, resend }: LineCommandsOptions): AppCommand[] => [
  {
    name: "queue",
    argument: "[TEXT]",
    description: "queue a message for after this turn; without a text, change what is queued",
    run: (argument, context) => (argument.trim() === "" ? changeQueued(context) : queue(argument)),
  },
  { name: "stop", description: "stop the turn, as Ctrl-C does", run: () => stop() },
  { name: "resend", description: "send the text that came back to you", run: () => resend() },
  {
    name: "output",
    description: "print the newest call with its whole output",
    run(_, context) {
      const lines = newestCallLines(context.display());
      return lines ? context.page({ title: "The newest call", lines }) : context.say("There is no call yet.");
    },
  },
  {
    name: "thread",
    description: "print the whole thread, from its beginning",
    run: async (_, context) => context.page({ title: context.display().title, lines: await wholeThread(context) }),
  },
];

const READ = 200;

async function wholeThread({ session }: CommandContext): Promise<Line[]> {
  const lines: Line[] = [];
  for (let before: number | undefined; ;) {
    const messages = await session.listMessages({ limit: READ, ...(before === undefined ? {} : { before }) });
    if (messages.length === 0) return lines;
    lines.unshift(...messages.flatMap((message) => unfoldedLines(message, { width: Infinity })));
    before = messages[0]!.seq;
  }
}

const queuedLabel = ({ content, dueAt }: InboxItem, now: number): string =>
  short(dueAt === null ? content : `at ${formatTime(dueAt, now)}: ${content}`);

async function changeQueued(context: CommandContext): Promise<void> {
  const queued = context.display().inbox.filter(({ note }) => !note);
  if (queued.length === 0) return context.say("No input is queued. /queue TEXT queues one.");
  const chosen = await context.pick<{ item: InboxItem; how: "edit" | "remove" }>({
    title: "Queued, the next one first",
    items: queued.map((item) => ({ value: { item, how: "edit" }, label: queuedLabel(item, context.screen().now) })),
    ways: [
      { key: "e", label: "edit", value: ({ item }) => ({ item, how: "edit" }) },
      { key: "r", label: "remove", value: ({ item }) => ({ item, how: "remove" }) },
    ],
  });
  if (!chosen) return;
  const { inputId, content } = chosen.item;
  const edited = chosen.how === "edit" ? await context.edit(content, { extension: "md" }) : undefined;
  try {
    if (chosen.how === "remove") await context.session.removeInput({ inputId });
    else if (edited !== undefined) await context.session.editInput({ inputId, content: edited });
  } catch (error) {
    context.say(queuedErrorLine(error));
    if (edited !== undefined) context.compose(edited);
  }
}
