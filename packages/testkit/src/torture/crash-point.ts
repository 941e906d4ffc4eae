import process from "node:process";
import { CinchError, type Session } from "@cinch/core";
import { durableTypes } from "@cinch/core/journal";

export const positions = ["before", "inside", "after", "emitted"] as const;

interface CrashPoint {
  type: string;
  position: (typeof positions)[number];
  nth: number;
}

/** Parses `EVENT:POSITION[:N]`. Throws `INVALID_CONFIG` for an unknown point: a test that never crashes would prove nothing. */
function crashPointOf(text: string): CrashPoint {
  const [type = "", position = "", nth = "1", ...rest] = text.split(":");
  const at = positions.find((one) => one === position);
  const isKnown = (durableTypes as string[]).includes(type) && at && /^[1-9]\d*$/.test(nth) && rest.length === 0;
  if (isKnown) return { type, position: at, nth: Number(nth) };
  throw new CinchError(
    "INVALID_CONFIG",
    `CRASH_AT=${text} is not a crash point. Write EVENT:POSITION or EVENT:POSITION:N, with N from 1, one of the positions ${positions.join(
      ", ",
    )} and one of the events ${durableTypes.join(", ")}.`,
  );
}

/**
 * `CRASH_AT="tool_end:emitted"` kills the process when subscribers receive the first `tool_end`. The store implements the other positions
 * (`before`, `inside` and `after` the commit). Throws `INVALID_CONFIG` for an unknown point.
 */
export function crashWhenEmitted(session: Pick<Session, "subscribe">, crashAt = process.env["CRASH_AT"]): void {
  if (!crashAt) return;
  const { type, position, nth } = crashPointOf(crashAt);
  if (position !== "emitted") return;
  // Subscribers do not receive these two events: a session that enters the thread gets its state. The first thread is never a clone.
  const shown = type === "thread_created" || type === "thread_cloned" ? "thread_changed" : type;
  const at = nth + (type === "thread_cloned" ? 1 : 0);
  let seen = 0;
  session.subscribe((event) => {
    if (event.type === shown && ++seen === at) process.kill(process.pid, "SIGKILL");
  });
}
