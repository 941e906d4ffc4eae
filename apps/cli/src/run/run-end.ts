import type { Session } from "@cinch/core";
import { ExitCode, exitOf } from "../exit.ts";
import type { EnteredThread } from "./entered-thread.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import type { Printer } from "./printer.ts";
import { dbOption } from "../threads/open-store.ts";
import type { Waiting } from "../pending/waiting.ts";
import { waitingText } from "../pending/waiting-text.ts";
import type { DriveOptions } from "./drive.ts";
import type { TurnEnd } from "./turn-watch.ts";

/** How a run ended: with its turn, with a signal or a closed stdout, or at once because there was nothing to do. */
export type RunEnd = TurnEnd | { kind: "closed"; code: number } | { kind: "nothing" };

interface RunContext {
  printer: Printer;
  session: Session;
  options: DriveOptions;
  entered: EnteredThread;
  /** What needs an answer. */
  waiting: readonly Waiting[];
}

/** Prints how the run ended and how to continue. Returns the exit code. */
export function reportRunEnd(end: RunEnd, { printer, session, options, entered, waiting }: RunContext): number {
  const { flags, json } = options;
  const place = dbOption(flags.db);
  const command = `${cinch} run --thread ${entered.threadId}${place}`;
  const queued = session.getDisplayState().inbox.filter(({ dueAt }) => dueAt === null).length;
  if (queued > 0) printer.note(`${queued} queued and not answered yet${whenAnswered(end, command)}`);
  switch (end.kind) {
    case "ended":
      if (end.reason !== "complete" && end.reason !== "error") printer.note(reasons[end.reason]);
      break;
    case "waiting":
      printer.note("the turn waits for a person's answer:");
      for (const one of waiting) printer.show(waitingText(one, `${cinch} answer${place}`));
      break;
    case "parked":
      printer.note(`the thread is parked; to resume it: ${command}`);
      break;
    case "failed":
      printer.note(`error: ${short(end.message, 500)}`);
      break;
    case "closed":
      printer.note("closed; the turn is kept");
      break;
    case "nothing":
      printer.note("there is nothing to continue");
  }
  if (!json) printer.note(`thread ${entered.threadId}${howToContinue(end, command)}`);
  return codeOf(end);
}

const reasons = {
  aborted: "aborted",
  declined: "ended: a call was declined",
  max_steps: "stopped: the limit of steps is reached",
  budget: "stopped: the budget is used up",
} as const;

/** After an abort, queued messages stay in the inbox. */
function whenAnswered(end: RunEnd, command: string): string {
  if (end.kind !== "ended") return "";
  if (end.reason === "aborted") return `; to have it answered: ${command}`;
  return "; cinch answers before it exits (Ctrl-C exits now)";
}

function howToContinue(end: RunEnd, command: string): string {
  // A prompt would answer a question alone.
  if (end.kind === "waiting") return "";
  return isUnfinished(end) ? ` · resume: ${command}` : ` · continue: ${command} "…"`;
}

const isUnfinished = ({ kind }: RunEnd): boolean => kind === "closed" || kind === "failed";

function codeOf(end: RunEnd): number {
  switch (end.kind) {
    case "ended":
      return exitOf(end.reason);
    case "waiting":
    case "parked":
      return ExitCode.waiting;
    case "failed":
      return ExitCode.error;
    case "closed":
      return end.code;
    case "nothing":
      return ExitCode.complete;
  }
}
