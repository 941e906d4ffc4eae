import type { DurableEvent } from "../events/event-map.ts";

/** Counts the time in which the thread was driven and did not wait for a person. */
export interface Stopwatch {
  at: number;
  ms: number;
}

/** `isWaiting`: whether the turn waited for a person before this event. */
export function elapsed(watch: Stopwatch, event: DurableEvent, isWaiting: () => boolean): Stopwatch {
  switch (event.type) {
    case "agent_start":
      return { ...watch, at: event.at };
    case "tool_resumed":
    case "tool_approval_resolved":
      return isWaiting() ? { ...watch, at: event.at } : watch;
    case "message_end":
      return event.interrupted ? watch : stopped(watch, event.at);
    case "usage_update":
      return event.failed ? stopped(watch, event.at) : watch;
    case "tool_end":
      return event.unknown ? watch : stopped(watch, event.at);
    case "tool_suspended":
    case "tool_approval_required":
      return stopped(watch, event.at);
    default:
      return watch;
  }
}

const stopped = ({ at, ms }: Stopwatch, now: number): Stopwatch => ({ at: now, ms: ms + Math.max(0, now - at) });
