import { eventText, offloadedBlob } from "@cinch/core/event-text";

/** Whether an event of this type has a text. */
export const isSearched = (type: string): boolean =>
  type === "message_end" || type === "tool_end" || type === "context_offloaded";

/** The text of an event, or of its blob. */
export function textIn(event: { type: string }, blobText: (hash: string) => string): string {
  const blob = offloadedBlob(event);
  return blob === undefined ? eventText(event) : blobText(blob);
}
