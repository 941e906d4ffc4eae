import type { RemoteSession } from "@cinch/client";
import type { ThreadApproval, ThreadRecord, ThreadSuspension } from "@cinch/core";
import { hasTour, type PageContext } from "./page-context.ts";
import { copyText } from "./ui/clipboard.ts";
import type { PaletteCommand } from "./ui/palette.tsx";

interface Options {
  context: PageContext;
  seat: RemoteSession | null;
  threads: readonly ThreadRecord[];
  openRules: () => void;
  openKeys: () => void;
  toggleSide: () => void;
  remove: (thread: ThreadRecord) => void;
  pending: readonly (ThreadApproval | ThreadSuspension)[];
}

/** Everything that the page can do, for the palette. */
export function pageCommands(options: Options): PaletteCommand[] {
  const { context, seat, threads, openRules, toggleSide, remove } = options;
  const { open, report, notify, info } = context;
  const run = (command: () => Promise<unknown>) => () => void command().catch(report);
  const general = generalCommands(options);
  if (!seat) return general;
  const { isRunning, yolo, status, flags, inbox } = seat.getDisplayState();
  const [talk, manage] = [info.may.includes("talk"), info.may.includes("manage")];
  return [
    ...when(talk && (isRunning || status === "parked"), { name: "Stop", keys: "Esc", run: run(() => seat.abort()) }),
    ...when(talk && (status === "parked" || (flags.held && inbox.length > 0)), {
      name: "Continue",
      run: run(() => seat.resume()),
    }),
    ...when(talk, {
      name: "Write a message",
      run: () => document.querySelector<HTMLElement>("#message")?.focus(),
    }),
    { name: "Go to what waits for me", keys: "F8", run: () => document.querySelector<HTMLElement>("#asked")?.focus() },
    ...when(manage && !isRunning, {
      name: "Edit my last message",
      run: () => [...document.querySelectorAll<HTMLElement>(".rewind")].at(-1)?.click(),
    }),
    ...when(talk && !isRunning, { name: "Retry the last turn", run: run(() => seat.retry()) }),
    ...(manage ? manageCommands({ context, seat, openRules, yolo }) : []),
    ...when(talk, {
      name: "Rename this thread",
      run: () => document.querySelector<HTMLElement>(".thread-header .title")?.click(),
    }),
    ...threads
      .filter(({ id }) => manage && id === seat.getCurrentThreadId())
      .map((thread) => ({ name: "Delete this thread", run: () => remove(thread) })),
    ...when(talk, {
      name: "Clone this thread",
      run: run(async () => {
        const here = location.hash;
        const { id } = await seat.cloneThread({});
        if (location.hash === here) open(id);
      }),
    }),
    { name: "Show or hide details", run: toggleSide },
    {
      name: "Export as Markdown",
      run: run(async () => {
        const { download, exported } = await import("./thread/export.ts");
        download(`${seat.getDisplayState().title || "thread"}.md`, await exported(seat));
      }),
    },
    {
      name: "Copy the address of this thread",
      run: run(async () => {
        await copyText(location.href);
        notify("The address is copied. It has no token in it.");
      }),
    },
    ...general,
  ];
}

const when = (isPossible: boolean, command: PaletteCommand): PaletteCommand[] => (isPossible ? [command] : []);

/** What can be done without a thread. */
function generalCommands({ context, threads, openKeys, pending }: Options): PaletteCommand[] {
  const { open, report, notify, info } = context;
  const allowNotifications = async () => {
    const answer = await Notification.requestPermission();
    notify(
      answer === "granted"
        ? "A notification comes when a thread waits for you and no tab of Cinch is shown."
        : "The browser does not allow notifications. Allow them for this address in its settings.",
    );
  };
  return [
    ...when(info.may.includes("talk"), { name: "New thread", keys: "Ctrl-Shift-O", run: () => open(null) }),
    { name: "Search threads", run: () => document.querySelector<HTMLElement>(".search input")?.focus() },
    ...pending.map(({ title, rootThreadId, toolName, threadId, toolCallId }) => ({
      id: `${threadId} ${toolCallId}`,
      name: `Answer ${toolName} in “${title || "Untitled"}”`,
      run: () => open(rootThreadId),
    })),
    ...tourCommands(context),
    { name: "Notify me when a thread waits", run: () => void allowNotifications().catch(report) },
    { name: "Keys", run: openKeys },
    ...threads.map(({ id, title }) => ({
      id,
      name: `Open “${title || "Untitled"}”`,
      isFoundOnly: true,
      run: () => open(id),
    })),
  ];
}

function tourCommands({ info, guide }: PageContext): PaletteCommand[] {
  if (guide) return [{ name: "Leave the tour", run: guide.leave }];
  return hasTour(info) ? [{ name: "Take the two-minute tour", run: () => void (location.hash = "#/tour") }] : [];
}

function manageCommands({
  context,
  seat,
  openRules,
  yolo,
}: Pick<Options, "context" | "openRules"> & { seat: RemoteSession; yolo: boolean }): PaletteCommand[] {
  const { report, info } = context;
  const run = (command: () => Promise<unknown>) => () => void command().catch(report);
  return [
    ...info.modes.map(({ id, name }) => ({
      id: `mode ${id}`,
      name: `Mode: ${name ?? id}`,
      run: run(() => seat.switchMode({ modeId: id })),
    })),
    ...info.models.map((modelId) => ({ name: `Model: ${modelId}`, run: run(() => seat.switchModel({ modelId })) })),
    { name: "Rules…", run: openRules },
    { name: yolo ? "YOLO off: ask again" : "YOLO on: nothing asks", run: run(() => seat.setState({ yolo: !yolo })) },
    { name: "Compact the context", run: run(() => seat.compact()) },
  ];
}
