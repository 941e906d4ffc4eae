import type { DurableEvent } from "../events/event-map.ts";

/** Counts the time in which the thread was driven and did not wait for a person. */
export interface Stopwatch {
  at: number;
  ms: number;
}

/** `isWaiting`: whether the turn waited for a person or a subagent before this event. */
export function elapsed(watch: Stopwatch, event: DurableEvent, isWaiting: () => boolean): Stopwatch {
  switch (event.type) {
    case "agent_start":
      return { ...watch, at: event.at };
    case "tool_approval_resolved":
      return isWaiting() ? { ...watch, at: event.at } : watch;
    case "tool_resumed":
      return isWaiting() ? waited(watch, event.at, event.workedMs ?? 0) : watch;
    case "subagent_end":
      return isWaiting() ? waited(watch, event.at, event.durationMs) : watch;
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

const sinceStart = ({ at }: Stopwatch, now: number): number => Math.max(0, now - at);

/** Subagents may have waited for a person, too. What they have worked counts. */
const waited = (watch: Stopwatch, now: number, workedMs: number): Stopwatch => ({
  at: now,
  ms: watch.ms + Math.min(sinceStart(watch, now), workedMs),
});

const stopped = (watch: Stopwatch, now: number): Stopwatch => ({ at: now, ms: watch.ms + sinceStart(watch, now) });
