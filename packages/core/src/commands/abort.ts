import { hasCancelledRuns } from "../folds/runs.ts";
import { sleep } from "../ports/clock.ts";
import type { Thread } from "../thread/thread.ts";
import { isCompactionDue, needsDriving } from "../turn/decide.ts";
import { refuseForeign } from "./refuse-foreign.ts";

/** How long an abort waits for a turn that is about to begin. */
const BEGIN_MS = 2_000;

/**
 * Asks the driver to end the turn, or the one that a queued input is about to begin, and cancels all unfinished runs and a requested
 * compaction. With `inbox`, also drops queued inputs.
 */
export async function abort(thread: Thread, { inbox = false }: { inbox?: boolean }): Promise<Thread> {
  refuseForeign(thread.state.foreign);
  await begun(thread);
  await thread.command(({ turn, inbox: queued, runs, context }) => {
    const drop = inbox ? { inbox } : {};
    if (turn?.aborting && !inbox) return null;
    if (turn) return { events: [{ type: "abort_requested", turnId: turn.turnId, ...drop }] };
    const isWorking = runs.unfinished.size > 0 || context.requested !== null;
    return isWorking || (inbox && queued.length > 0) ? { events: [{ type: "abort_requested", ...drop }] } : null;
  });
  return thread;
}

/** Settles when an input that is about to be taken has been taken: an abort then means the turn that begins with it. */
async function begun(thread: Thread): Promise<void> {
  const { clock, modes } = thread.ports;
  const until = clock.now() + BEGIN_MS;
  const canBegin = () => !thread.supervisor.broken && !thread.isClosed && modes.canAct(thread.state);
  const isDue = () => needsDriving(thread.state) && !isCompactionDue(thread.state);
  const begins = () => !thread.state.turn && isDue() && canBegin();
  while (begins() && clock.now() < until) await Promise.race([thread.changed(), sleep(clock, 50)]);
}

/** Settles when the turn that is current at the call, and the runs that an abort has cancelled, have ended. */
export async function abortEnded(thread: Thread): Promise<void> {
  const { turn } = thread.state;
  await thread.until((state) => (!turn || state.turn?.turnId !== turn.turnId) && !hasCancelledRuns(state.runs));
}
