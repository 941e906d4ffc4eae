import type { RemoteSession } from "@cinch/client";
import type { ThreadApproval, ThreadSuspension } from "@cinch/core";
import { hasTour, type PageContext } from "./page-context.ts";
import { download, exported } from "./thread/export.ts";
import type { PaletteCommand } from "./ui/palette.tsx";

interface Options {
  context: PageContext;
  seat: RemoteSession | null;
  openRules: () => void;
  toggleSide: () => void;
  pending: readonly (ThreadApproval | ThreadSuspension)[];
}

/** Everything that the page can do, for the palette. */
export function pageCommands({ context, seat, openRules, toggleSide, pending }: Options): PaletteCommand[] {
  const { open, report, notify, info } = context;
  const run = (command: () => Promise<unknown>) => () => void command().catch(report);
  const general: PaletteCommand[] = [
    { name: "New thread", run: () => open(null) },
    { name: "Search threads", run: () => document.querySelector<HTMLElement>(".search input")?.focus() },
    ...pending.map(({ title, rootThreadId, toolName }) => ({
      name: `Answer ${toolName} in “${title || "Untitled"}”`,
      run: () => open(rootThreadId),
    })),
    ...tourCommands(context),
    { name: "Notify me when a thread waits", run: run(async () => Notification.requestPermission()) },
  ];
  if (!seat) return general;
  const { isRunning, yolo, status, flags, inbox } = seat.getDisplayState();
  const manage = info.may.includes("manage");
  return [
    ...(isRunning ? [{ name: "Stop", keys: "Esc", run: run(() => seat.abort()) }] : []),
    ...(status === "parked" || (flags.held && inbox.length > 0)
      ? [{ name: "Continue", run: run(() => seat.resume()) }]
      : []),
    { name: "Write a message", run: () => document.querySelector<HTMLElement>("#message")?.focus() },
    { name: "Go to what waits for me", keys: "F8", run: () => document.querySelector<HTMLElement>("#asked")?.focus() },
    ...(isRunning ? [] : [{ name: "Retry the last turn", run: run(() => seat.retry()) }]),
    ...(manage ? manageCommands({ context, seat, openRules, yolo }) : []),
    { name: "Clone this thread", run: run(async () => open((await seat.cloneThread({})).id)) },
    { name: "Show or hide details", run: toggleSide },
    {
      name: "Export as Markdown",
      run: run(async () => download(`${seat.getDisplayState().title || "thread"}.md`, await exported(seat))),
    },
    {
      name: "Copy the address of this thread",
      run: run(async () => {
        await navigator.clipboard.writeText(location.href);
        notify("The address is copied. It has no token in it.");
      }),
    },
    ...general,
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
      name: `Mode: ${name ?? id}`,
      run: run(() => seat.switchMode({ modeId: id })),
    })),
    ...info.models.map((modelId) => ({ name: `Model: ${modelId}`, run: run(() => seat.switchModel({ modelId })) })),
    { name: "Rules…", run: openRules },
    { name: yolo ? "YOLO off: ask again" : "YOLO on: nothing asks", run: run(() => seat.setState({ yolo: !yolo })) },
    { name: "Compact the context", run: run(() => seat.compact()) },
  ];
}
