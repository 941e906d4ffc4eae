import type { AppOptions } from "../cli-command.ts";
import { runApp, type RunAppOptions } from "./app.ts";
import { runSession } from "./run-session.ts";

export interface RunInTerminalOptions extends Omit<RunAppOptions, "session" | "modes" | "first"> {
  thread: AppOptions["thread"];
  /** Aborted when the terminal is gone. */
  gone?: AbortSignal;
}

/** Runs the app on an open project, and closes the project. Returns the exit code. */
export function runInTerminal({ thread, gone, ...options }: RunInTerminalOptions): Promise<number> {
  const { project, terminal } = options;
  const print = (lines: readonly string[]) => terminal.output.writeNow(lines.map((one) => `${one}\r\n`).join(""));
  const started = { project, thread, gone, print: options.guide ? null : print };
  return runSession(started, (session, signal) => runApp({ ...options, ...session }, signal));
}
