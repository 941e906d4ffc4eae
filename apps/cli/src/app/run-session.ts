import { systemClock, type HarnessDisplayState, type HarnessMode, type Session } from "@cinch/core";
import type { AppOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { cinch } from "../invocation.ts";
import type { Project } from "../setup/project.ts";
import { short } from "../terminal/sanitise.ts";
import { formatPlural } from "../views/format.ts";
import { enterAtStart } from "./entered-at-start.ts";

/** A tool that does not stop, or a store that hangs, must not keep the user. */
const CLOSE_MS = 1_000;

const SIGNALS = { SIGTERM: ExitCode.terminated, SIGHUP: ExitCode.hangup } as const;

interface RunSessionOptions {
  project: Project;
  thread: AppOptions["thread"];
  /** Aborted when the terminal is gone. */
  gone: AbortSignal | undefined;
  /** For how to come back, when the app has ended. `null`: there is nothing to come back to. */
  print: ((lines: readonly string[]) => void) | null;
}

export interface StartedSession {
  session: Session;
  modes: readonly HarnessMode[];
  /** A command to begin with, without the slash, if it is to choose the thread. */
  first?: string;
}

/** Runs an app on an open project until it ends or a signal comes, and closes the project. Returns the exit code. */
export async function runSession(
  { project, thread, gone, print }: RunSessionOptions,
  run: (started: StartedSession, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const session = await project.harness.createSession();
  let code: number = ExitCode.complete;
  let cancelExit = () => {};
  const ended = new AbortController();
  const end = (exit: number) => {
    code = exit;
    ended.abort();
  };
  const handlers = Object.entries(SIGNALS).map(
    ([signal, exit]) => [signal as NodeJS.Signals, () => end(exit)] as const,
  );
  for (const [signal, handler] of handlers) process.on(signal, handler);
  gone?.addEventListener("abort", () => end(ExitCode.hangup));
  try {
    await enterAtStart(thread, { session, store: project.store, db: project.db });
    const modes = await session.listModes();
    await run({ session, modes, ...(thread.kind === "pick" ? { first: "threads" } : {}) }, ended.signal);
    cancelExit = systemClock.after(CLOSE_MS, () => process.exit(code));
    if (print) print(await farewell(session));
    return code;
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
    await project.close();
    cancelExit();
  }
}

/** What the user needs to come back. A thread without a message is deleted. */
async function farewell(session: Session): Promise<string[]> {
  // Commands are executed in order: after this one, a thread that is being created is there.
  await session.listThreads({ limit: 1 });
  const display = session.getDisplayState();
  const { threadId } = display;
  if (threadId === null) return [];
  if (isEmpty(display)) {
    await session.deleteThread({ threadId });
    return [];
  }
  const kept = display.turnId === null ? [] : [`The turn is kept: it goes on when the thread is opened again.`];
  const scheduled = display.inbox.filter(({ dueAt }) => dueAt !== null).length;
  const later = `${formatPlural(scheduled, "message")} scheduled: cinch sends what is due when the thread is opened again.`;
  return [...kept, ...(scheduled > 0 ? [later] : []), `To come back: ${cinch} --resume ${short(threadId)}`];
}

const isEmpty = ({ messages, inbox, turnId }: HarnessDisplayState): boolean =>
  messages.length === 0 && inbox.length === 0 && turnId === null;
