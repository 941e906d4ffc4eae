import process from "node:process";
import type { Session } from "@cinch/core";
import { crashPointOf } from "./crash-point.ts";

/**
 * The last of the crash points: `CRASH_AT="tool_end:emitted"` kills the process when subscribers are told of the first `tool_end`. The
 * others (`before`, `inside` and `after` the commit) are in the store. Throws `INVALID_CONFIG` for a point that there is not.
 */
export function crashWhenEmitted(session: Pick<Session, "subscribe">, crashAt = process.env["CRASH_AT"]): void {
  if (!crashAt) return;
  const { type, position, nth } = crashPointOf(crashAt);
  if (position !== "emitted") return;
  // Nobody sees these two as events: whoever enters the thread is given its state. The first thread is never a clone.
  const shown = type === "thread_created" || type === "thread_cloned" ? "thread_changed" : type;
  const at = nth + (type === "thread_cloned" ? 1 : 0);
  let seen = 0;
  session.subscribe((event) => {
    if (event.type === shown && ++seen === at) process.kill(process.pid, "SIGKILL");
  });
}
