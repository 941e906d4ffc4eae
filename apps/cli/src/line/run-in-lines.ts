import type { AppOptions } from "../cli-command.ts";
import { runSession } from "../app/run-session.ts";
import { runLineApp, type LineAppOptions } from "./line-app.ts";

export interface RunInLinesOptions extends Omit<LineAppOptions, "session" | "modes" | "first"> {
  thread: AppOptions["thread"];
  /** Aborted when what reads the lines is gone. */
  gone?: AbortSignal;
}

/** Runs the app on an open project, and closes the project. Returns the exit code. */
export function runInLines({ thread, gone, ...options }: RunInLinesOptions): Promise<number> {
  const { project, output } = options;
  const print = (lines: readonly string[]) => output.write(lines.map((one) => `${one}\n`).join(""));
  return runSession({ project, thread, gone, print }, (started, signal) =>
    runLineApp({ ...options, ...started }, signal),
  );
}
