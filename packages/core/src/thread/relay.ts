import type { HarnessEvent } from "../events/event-map.ts";
import type { NewLive } from "../events/live-events.ts";
import { threadStatus } from "../folds/display.ts";
import type { Thread } from "./thread.ts";

/** The event of a child as the subscribers of its parent get it. `null`: they do not. */
export function relayed(child: Thread, event: HarnessEvent): NewLive | null {
  switch (event.type) {
    // Of a descendant of the child: it is passed on as it is.
    case "subagent_text_delta":
    case "subagent_tool_start":
    case "subagent_tool_end":
    case "subagent_event": {
      const { threadId: _, at: __, turnId: ___, ...passed } = event;
      return passed as NewLive;
    }
    case "display_state_changed":
    case "resync":
    case "thread_changed":
      return null;
    case "message_update":
      if (event.part !== "text") return { type: "subagent_event", ...about(child), event };
      return { type: "subagent_text_delta", ...about(child), delta: event.delta };
    case "tool_start": {
      const { toolCallId, toolName, args } = event;
      return { type: "subagent_tool_start", ...about(child), toolCallId, toolName, args };
    }
    case "tool_end": {
      const { toolCallId, toolName, result, isError, durationMs } = event;
      return { type: "subagent_tool_end", ...about(child), toolCallId, toolName, result, isError, durationMs };
    }
    default:
      return { type: "subagent_event", ...about(child), event };
  }
}

/** Brings the subscribers of the parent up to date with a child: without its messages, which are in its own thread. */
export function introduction(child: Thread): NewLive {
  const { path } = about(child);
  // In its own display, a thread does not know whose subagent it is.
  const suspensions = Object.entries(child.display.pendingSuspensions).map(([id, one]) => {
    return [id, one.threadId === child.id ? { ...one, path } : one];
  });
  const pendingSuspensions = Object.fromEntries(suspensions);
  const displayState = { ...child.display, messages: [], currentMessage: null, pendingSuspensions };
  const event = { type: "resync", threadId: child.id, at: child.ports.clock.now(), seq: child.state.seq, displayState };
  return { type: "subagent_event", ...about(child), event };
}

const about = ({ id, state }: Thread) => ({
  childThreadId: id,
  path: state.agent?.path ?? [],
  status: threadStatus(state),
});
