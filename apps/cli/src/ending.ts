import type { Session } from "@cinch/core";
import { DEFAULT_DB, type RunOptions } from "./args.ts";
import { Exit, exitOf } from "./exit.ts";
import type { Seat } from "./seat.ts";
import { cinch } from "./invocation.ts";
import { short } from "./terminal/plain.ts";
import type { Screen } from "./terminal/screen.ts";
import type { TurnEnd } from "./turn-end.ts";

/** How a run ends: as its thread says, because it had to close, or because there was nothing to do. */
export type RunEnd = TurnEnd | { kind: "closed"; code: number } | { kind: "nothing" };

export interface Ending {
  screen: Screen;
  session: Session;
  options: RunOptions;
  seat: Seat;
}

/** Tells how it went and how to go on, and gives the exit code. */
export function finish(end: RunEnd, { screen, session, options, seat }: Ending): number {
  const { db, json } = options;
  const place = db === DEFAULT_DB ? "" : ` --db ${quoted(db)}`;
  const goOn = `${cinch} run --thread ${seat.threadId}${place}`;
  const queued = session.getDisplayState().inbox.length;
  if (queued > 0)
    screen.note(
      `${queued} queued and not answered yet${answersOn(end) ? "; that is done before leaving (Ctrl-C leaves)" : ""}`,
    );
  switch (end.kind) {
    case "ended":
      if (end.reason !== "complete" && end.reason !== "error") screen.note(reasons[end.reason]);
      break;
    case "waiting":
      screen.note("the turn waits for a person's answer, which can't be given here yet");
      break;
    case "parked":
      screen.note(`the thread is parked; to go on all the same: ${goOn}`);
      break;
    case "failed":
      screen.note(`error: ${short(end.message, 500)}`);
      break;
    case "closed":
      screen.note("closed; the turn is kept");
      break;
    case "nothing":
      screen.note("there is nothing to go on with");
  }
  if (!json)
    screen.note(
      `thread ${seat.threadId} · ${unfinished(end) ? "go on" : "continue"}: ${goOn}${unfinished(end) ? "" : ' "…"'}`,
    );
  return codeOf(end);
}

const reasons = {
  aborted: "aborted",
  declined: "ended: a call was declined",
  max_steps: "stopped: the limit of steps is reached",
  budget: "stopped: the budget is used up",
} as const;

/** After an abort what is queued is held back. */
const answersOn = (end: RunEnd): boolean => end.kind === "ended" && end.reason !== "aborted";
const unfinished = ({ kind }: RunEnd): boolean => kind === "closed" || kind === "failed";

function codeOf(end: RunEnd): number {
  switch (end.kind) {
    case "ended":
      return exitOf(end.reason);
    case "waiting":
    case "parked":
      return Exit.waiting;
    case "failed":
      return Exit.error;
    case "closed":
      return end.code;
    case "nothing":
      return Exit.complete;
  }
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
