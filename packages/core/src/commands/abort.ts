import type { Thread } from "../thread/thread.ts";
import { refuseForeign } from "./refuse-foreign.ts";

/** Asks the driver to end the turn, or the one that a queued input is about to begin. With `inbox`, also drops queued inputs. */
export async function abort(thread: Thread, { inbox = false }: { inbox?: boolean }): Promise<Thread> {
  refuseForeign(thread.state.foreign);
  await thread.begun();
  await thread.command(({ turn, inbox: queued, runs }) => {
    const drop = inbox ? { inbox } : {};
    if (turn?.aborting && !inbox) return null;
    if (turn) return { events: [{ type: "abort_requested", turnId: turn.turnId, ...drop }] };
    const hasChildren = runs.unfinished.size > 0;
    return hasChildren || (inbox && queued.length > 0) ? { events: [{ type: "abort_requested", ...drop }] } : null;
  });
  return thread;
}
