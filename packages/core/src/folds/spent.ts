import type { DurableEvent, Spent } from "../events/event-map.ts";
import type { Usage } from "../events/message.ts";

export const nothingSpent: Spent = { steps: 0, ms: 0, cost: 0, unpriced: false };

/** What is not known in one part is not known of the whole. */
export const addCost = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

export const tokensOf = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens;

/** Time that the thread was at work: not while it waited for a person, and not while nobody drove it. */
export interface Stopwatch {
  at: number;
  ms: number;
}

/** `isWaiting`: before this event only a person could go on. */
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
