import type { DurableEvent } from "../events/event-map.ts";
import { heldInfo } from "../events/live-events.ts";
import type { Thread } from "./thread.ts";

/** Settles the callers that wait for this event, and emits the live events that follow from it. */
export function settleEvent(thread: Thread, event: DurableEvent): void {
  const { state, results } = thread;
  switch (event.type) {
    case "input_accepted": {
      const { delivery, inputId } = event;
      results.accepted(inputId);
      if (event.retry) return;
      const count = state.inbox.filter((item) => (item.delivery === "steer") === (delivery === "steer")).length;
      if (state.turn) thread.live({ type: delivery === "steer" ? "steer_queued" : "follow_up_queued", count, inputId });
      return;
    }
    case "abort_requested":
      if (event.turnId === state.turn?.turnId) thread.supervisor.abortTurn();
      return results.dropLost(state);
    case "input_removed":
    case "thread_rewound":
      return results.dropLost(state);
    case "agent_end":
      if (state.held) thread.live(heldInfo(state.inbox.length));
      results.turnEnded(state);
  }
}
