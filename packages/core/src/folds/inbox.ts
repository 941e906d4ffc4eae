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
  at: number;
}

/** The inputs that wait to be taken, oldest first. Returns the same array if nothing changes. */
export function reduceInbox(inbox: readonly InboxItem[], event: DurableEvent): readonly InboxItem[] {
  switch (event.type) {
    case "input_accepted": {
      const { inputId, delivery, content, files = [], note = false, at } = event;
      if (event.retry) return inbox;
      return [...inbox, { inputId, delivery, content, files, note, at }];
    }
    case "input_edited":
      return inbox.map((item) => (item.inputId === event.inputId ? { ...item, content: event.content } : item));
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
