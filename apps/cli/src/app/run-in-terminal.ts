import { systemClock, type HarnessDisplayState, type Session } from "@cinch/core";
import type { AppOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import { runApp, type RunAppOptions } from "./app.ts";
import { enterAtStart } from "./entered-at-start.ts";

/** A tool that does not stop, or a store that hangs, must not keep the user. */
const CLOSE_MS = 1_000;

const SIGNALS = { SIGTERM: ExitCode.terminated, SIGHUP: ExitCode.hangup } as const;

export interface RunInTerminalOptions extends Omit<RunAppOptions, "session" | "modes" | "first"> {
  thread: AppOptions["thread"];
  /** Aborted when the terminal is gone. */
  gone?: AbortSignal;
}

/** Runs the app on an open project, and closes the project. Returns the exit code. */
export async function runInTerminal({ thread, gone, ...options }: RunInTerminalOptions): Promise<number> {
  const { project, terminal } = options;
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
    const first = thread.kind === "pick" ? { first: "threads" } : {};
    await runApp({ ...options, session, modes, ...first }, ended.signal);
    cancelExit = systemClock.after(CLOSE_MS, () => process.exit(code));
    const lines = options.guide ? [] : await farewell(session);
    terminal.output.writeNow(lines.map((one) => `${one}\r\n`).join(""));
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
  return [...kept, `To come back: ${cinch} --resume ${short(threadId)}`];
}

const isEmpty = ({ messages, inbox, turnId }: HarnessDisplayState): boolean =>
  messages.length === 0 && inbox.length === 0 && turnId === null;
