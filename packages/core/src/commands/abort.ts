import { hasCancelledRuns, hasUncancelledRuns, isOpenIn } from "../folds/runs.ts";
import { progressAt } from "../folds/progress.ts";
import { withTimeout } from "../ports/clock.ts";
import type { ThreadState } from "../folds/state.ts";
import type { SignedThread } from "../thread/signed-thread.ts";
import type { Thread } from "../thread/thread.ts";
import { isCompactionDue, needsDriving, type Decide } from "../turn/decide.ts";
import { refuseForeign } from "./refuse-foreign.ts";

/** How long an abort waits for a turn that is about to begin. */
const BEGIN_MS = 2_000;

interface AbortOptions {
  /** Drops queued inputs, too. */
  inbox?: boolean;
  /** Ends no turn but that of this run: a person may have begun another one. */
  runId?: string;
}

/**
 * Asks the driver to end the turn, or the one that a queued input is about to begin, and cancels all unfinished runs and a requested
 * compaction.
 */
export async function abort(signed: SignedThread, options: AbortOptions): Promise<Thread> {
  const { thread } = signed;
  refuseForeign(thread.state.foreign);
  await begun(thread);
  await signed.command(abortRequest(options));
  return thread;
}

export const abortRequest =
  ({ inbox = false, runId }: AbortOptions): Decide =>
  (state) => {
    const { turn, ended, inbox: queued, runs, context } = state;
    if (turn && runId !== undefined && !isOpenIn(state, runId)) return null;
    const drop = inbox ? { inbox } : {};
    const isRepeated = turn?.aborting && !hasUncancelledRuns(runs);
    if (isRepeated && (!inbox || queued.length === 0)) return null;
    if (turn) return { events: [{ type: "abort_requested", turnId: turn.turnId, ...drop }] };
    const isCompacting = context.requested !== null;
    if (!isCompacting && runs.unfinished.size === 0 && !(inbox && queued.length > 0)) return null;
    // Without a turn, the driver stops what it does now: a compaction. It may also be about to begin a turn, which is not meant.
    const meant = isCompacting || !ended ? {} : { turnId: ended.turnId };
    return { events: [{ type: "abort_requested", ...meant, ...drop }] };
  };

/** Settles when an input that is about to be taken has been taken: an abort then means the turn that begins with it. */
async function begun(thread: Thread): Promise<void> {
  const { clock, modes } = thread.ports;
  const until = clock.now() + BEGIN_MS;
  const canBegin = () => !thread.supervisor.broken && !thread.isClosed && modes.canAct(thread.state);
  const state = () => progressAt(thread.state, clock.now());
  const isDue = () => needsDriving(state()) && !isCompactionDue(state());
  const begins = () => !thread.state.turn && isDue() && canBegin();
  while (begins() && clock.now() < until) await withTimeout(clock, thread.changed(), { ms: 50 });
}

/** Settles when the turn that is aborted at the call, and the runs that an abort has cancelled, have ended. */
export async function abortEnded(thread: Thread): Promise<void> {
  const { turn } = thread.state;
  const aborted = turn?.aborting ? turn.turnId : null;
  const isOver = ({ turn: now }: ThreadState) => aborted === null || now?.turnId !== aborted;
  await thread.until((state) => isOver(state) && !hasCancelledRuns(state.runs));
}
