import { resyncOf } from "./subscriber.ts";
import type { Subscribers } from "./subscribers.ts";
import type { Thread } from "./thread.ts";

interface Entry {
  previous: Thread | null;
  subscribers: Subscribers;
  at: number;
}

/** Brings the subscribers of a session up to date with the thread that it enters, which is driven from now on if it can be. */
export function arriveAt(next: Thread, { previous, subscribers, at }: Entry): void {
  const previousThreadId = previous?.id ?? null;
  // Without a subscriber, the display need not be read, and saved messages need not be parsed.
  if (!subscribers.isEmpty) {
    subscribers.push({ type: "thread_changed", threadId: next.id, previousThreadId, at });
    subscribers.push(resyncOf(next, at));
  }
  const blocked = next.supervisor.whyBlocked;
  if (blocked) next.report("The thread can't be driven from here", blocked);
  next.supervisor.sessionEntered();
  next.children.sessionEntered();
}
