import type { HarnessEvent } from "@cinch/core";

/** Takes the events of one subscriber of a session. */
export type EventListener = (event: HarnessEvent) => void;

interface ListenerPorts {
  /** Delivered before the events that happen meanwhile. Must not reject. */
  past: Promise<readonly HarnessEvent[]> | undefined;
  /** Whether it has unsubscribed. */
  isOver(): boolean;
  /** Called once: the report is an event, too. */
  report(error: unknown): void;
}

export function eventListener(
  listener: (event: HarnessEvent) => unknown,
  { past, isOver, report }: ListenerPorts,
): EventListener {
  let waiting: HarnessEvent[] | undefined = past && [];
  let wasReported = false;
  const failed = (error: unknown) => {
    if (!wasReported) report(error);
    wasReported = true;
  };
  const delivered = async (event: HarnessEvent) => !isOver() && listener(event);
  /** What a listener throws must reach neither the session nor other listeners. */
  const call = (event: HarnessEvent) => void delivered(event).catch(failed);
  const replay = (events: readonly HarnessEvent[]) => {
    waiting = [...events, ...waiting!];
    // This grows while it is delivered.
    for (const event of waiting) call(event);
    waiting = undefined;
  };
  past?.then(replay).catch(failed);
  return (event) => (waiting ? void waiting.push(event) : call(event));
}
