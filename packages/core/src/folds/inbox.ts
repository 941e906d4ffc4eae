import type { Delivery, DurableEvent } from "../events/event-map.ts";
import type { FilePart } from "../events/message.ts";

/** An input that was accepted and not yet taken. */
export interface InboxItem {
  inputId: string;
  delivery: Delivery;
  content: string;
  files: FilePart[];
  /** The harness wrote it, not a person. */
  note: boolean;
  /** The person who wrote its present text. `null`: not recorded. */
  by: string | null;
  at: number;
  /** Of a scheduled input: the time in ms at which it is queued. Until then other inputs pass it. `null`: it is queued. */
  dueAt: number | null;
}

type Inbox = readonly InboxItem[];

/**
 * The inputs that wait to be taken: first the queued ones, in the order in which they are taken, then the scheduled ones, by their time.
 * Returns the same array if nothing changes.
 */
export function reduceInbox(before: Inbox, event: DurableEvent): Inbox {
  const inbox = inboxAt(before, event.at);
  switch (event.type) {
    case "input_accepted": {
      const { inputId, delivery, content, files = [], note = false, by = null, at, dueAt = at } = event;
      if (event.retry) return inbox;
      const item = { inputId, delivery, content, files, note, by, at, dueAt: dueAt > at ? dueAt : null };
      return inbox.toSpliced(countUntil(inbox, timeOf(item)), 0, item);
    }
    case "input_edited":
      return inbox.map((item) => (item.inputId === event.inputId ? edited(item, event) : item));
    case "input_removed":
    case "input_taken":
      return inbox.filter((item) => item.inputId !== event.inputId);
    case "abort_requested":
      return event.inbox ? [] : inbox;
    case "thread_cloned":
    case "thread_rewound":
      return [];
    default:
      return inbox;
  }
}

const edited = (item: InboxItem, { content, by }: DurableEvent<"input_edited">): InboxItem => ({
  ...item,
  content,
  by: by ?? null,
});

/** The inbox at a time: scheduled inputs that are due by then are queued, behind the others. */
export function inboxAt(inbox: Inbox, at: number): Inbox {
  if ((firstDueAt(inbox) ?? Infinity) > at) return inbox;
  return inbox.map((item) => (timeOf(item) <= at ? { ...item, dueAt: null } : item));
}

/** An older release, whose display may be folded here, has no `dueAt`. */
const timeOf = ({ dueAt }: Pick<InboxItem, "dueAt">): number => dueAt ?? -Infinity;

export const isScheduled = (item: Pick<InboxItem, "dueAt">): boolean => timeOf(item) > -Infinity;

export const queuedCount = (inbox: Inbox): number => countUntil(inbox, -Infinity);

export const hasQueued = (inbox: Inbox): boolean => queuedCount(inbox) > 0;

/** When the next scheduled input is due. `null`: there is none. */
export const firstDueAt = (inbox: Inbox): number | null => inbox[queuedCount(inbox)]?.dueAt ?? null;

/** How many inputs are queued at this time. A binary search: the inbox is in this order. */
function countUntil(inbox: Inbox, at: number): number {
  let from = 0;
  for (let to = inbox.length; from < to;) {
    const middle = (from + to) >> 1;
    if (timeOf(inbox[middle]!) <= at) from = middle + 1;
    else to = middle;
  }
  return from;
}
