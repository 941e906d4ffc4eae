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
}

/** The inputs that wait to be taken, oldest first. Returns the same array if nothing changes. */
export function reduceInbox(inbox: readonly InboxItem[], event: DurableEvent): readonly InboxItem[] {
  switch (event.type) {
    case "input_accepted": {
      const { inputId, delivery, content, files = [], note = false, by = null, at } = event;
      if (event.retry) return inbox;
      return [...inbox, { inputId, delivery, content, files, note, by, at }];
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
