import type { HarnessEvent, Session } from "@cinch/core";
import type { ThreadChoice } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { waitingIn } from "../pending/waiting.ts";
import type { Project, ProjectFlags } from "../setup/project.ts";
import { enterThread, type EnteredThread } from "./entered-thread.ts";
import { jsonView } from "./json-view.ts";
import { openForRun } from "./open-for-run.ts";
import { Printer } from "./printer.ts";
import { reportRunEnd, type RunEnd } from "./run-end.ts";
import { Shutdown } from "./shutdown.ts";
import { TextView } from "./text-view.ts";
import { TurnInterrupt } from "./turn-interrupt.ts";
import { TurnWatch } from "./turn-watch.ts";

export interface DriveOptions {
  flags: ProjectFlags;
  trust: boolean;
  json: boolean;
}

export interface DriveContext {
  project: Project;
  session: Session;
  watch: TurnWatch;
  entered: EnteredThread;
}

export interface Drive {
  printer: Printer;
  shutdown: Shutdown;
  options: DriveOptions;
  /** Which thread to enter, once the project is open. */
  thread(project: Project): Promise<ThreadChoice>;
  /** Is not printed again when it is taken. */
  prompt: string | null;
  /** Gives the thread something to do. Returns an end if there is nothing to wait for. */
  begin(context: DriveContext): Promise<RunEnd | undefined>;
}

/** Enters a thread, prints what happens in it until its turn ends or can't continue, and returns the exit code. */
export async function driveThread({ printer, shutdown, options, thread, prompt, begin }: Drive): Promise<number> {
  const { flags, json } = options;
  const project = await openForRun(options, printer);
  const { harness, store, db: path } = project;
  try {
    const session = await harness.createSession();
    if (process.env["CRASH_AT"]) (await import("@cinch/testkit")).crashWhenEmitted(session);
    const view = json ? jsonView : new TextView(printer, { prompt, display: () => session.getDisplayState() });
    const watch = new TurnWatch(session, store);
    const interrupt = new TurnInterrupt(session, printer);
    const listener = (event: HarnessEvent) => {
      view.show(event);
      interrupt.handle(event);
      watch.handle(event);
    };
    const choice = await thread(project);
    const entered = await enterThread({ session, store, thread: choice, path, title: prompt ?? "", listener });
    shutdown.onInterrupt(() => interrupt.start());
    if (entered.driven && entered.before.status === "running")
      printer.note("another process drives this thread: following");
    if (choice.kind !== "new") await applyFlags(session, flags);
    const immediate = await begin({ project, session, watch, entered });
    watch.begun();
    const closed = shutdown.closed.then((code) => ({ kind: "closed" as const, code }));
    const end = immediate ?? (await Promise.race([watch.end, closed]));
    printer.endLine();
    const waiting = end.kind === "waiting" ? await waitingIn(harness, entered.threadId) : [];
    const code = reportRunEnd(end, { printer, session, options, entered, waiting });
    // This process may now drive the turn of another session's message. Aborting it would lose the outcome of its calls.
    shutdown.onInterrupt(() => shutdown.close(ExitCode.aborted));
    if (end.kind === "ended") await Promise.race([idle(session), shutdown.closed]);
    return code;
  } finally {
    await project.close();
  }
}

/** A new thread begins with them. */
async function applyFlags(session: Session, { mode, yolo }: ProjectFlags): Promise<void> {
  if (mode !== undefined && session.getCurrentModeId() !== mode) await session.switchMode({ modeId: mode });
  if (yolo && session.getState()["yolo"] !== true) await session.setState({ yolo: true });
}

/** Settles when no turn is running. */
async function idle(session: Session): Promise<void> {
  const isBusy = () => session.getDisplayState().status === "running";
  if (!isBusy()) return;
  for await (const event of session.events()) if (event.type === "agent_end" || !isBusy()) return;
}
