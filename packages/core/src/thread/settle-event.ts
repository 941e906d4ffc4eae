import type { DurableEvent } from "../events/event-map.ts";
import { heldInfo } from "../events/live-events.ts";
import { queuedCount } from "../folds/inbox.ts";
import { resultInJournal } from "../queries/history.ts";
import type { Thread } from "./thread.ts";

/** Whether callers that wait for a turn are told that it will not come. */
export const dropsInputs = ({ type }: DurableEvent): boolean => type === "abort_requested" || type === "input_removed";

/**
 * Settles the callers that wait for this event, and emits the live events that follow from it. Reads the state only where it is needed:
 * that folds the events so far, and the events of one append are cheaper to fold as one batch.
 */
export function settleEvent(thread: Thread, event: DurableEvent): void {
  const { results } = thread;
  switch (event.type) {
    case "input_accepted": {
      const { delivery, inputId } = event;
      const { state } = thread;
      results.accepted(inputId);
      if (event.retry || event.dueAt !== undefined) return;
      const queued = state.inbox.slice(0, queuedCount(state.inbox));
      const count = queued.filter((item) => (item.delivery === "steer") === (delivery === "steer")).length;
      if (state.turn)
        thread.derived({ type: delivery === "steer" ? "steer_queued" : "follow_up_queued", count, inputId });
      return;
    }
    case "abort_requested":
      if (event.turnId === thread.state.turn?.turnId) thread.supervisor.abortTurn();
      return results.dropLost(thread.state);
    case "input_removed":
      return results.dropLost(thread.state);
    // It comes with the events before it, and the state is that after all of them: it does not say how a turn has ended.
    case "thread_rewound": {
      const settled = results.settleLost(thread.state, (inputId) => resultInJournal(thread, inputId));
      settled.catch(() => undefined);
      return;
    }
    case "agent_end":
      if (thread.state.held) thread.derived(heldInfo(queuedCount(thread.state.inbox)));
      results.turnEnded(thread.state);
  }
}
