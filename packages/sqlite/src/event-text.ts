import type { DurableEvent } from "@cinch/core";

/** Whether an event of this type has a text. */
export const isSearched = (type: string): boolean =>
  type === "message_end" || type === "tool_end" || type === "context_offloaded";

/**
 * The text of an event, as `eventText` of core, which the writer's thread does not load. Events are validated by core, not by the store, so
 * any field may have any shape.
 */
export function textIn(event: DurableEvent, blobText: (hash: string) => string): string {
  const { message, result, blob } = event as { message?: Fields; result?: Fields; blob?: unknown };
  switch (event.type as string) {
    case "message_end":
      return message?.["role"] === "note" ? "" : [...texts(message?.["content"])].join("\n");
    case "tool_end":
      return [...texts(result?.["content"])].join("\n");
    case "context_offloaded":
      return typeof blob === "string" ? blobText(blob) : "";
    default:
      return "";
  }
}

type Fields = Record<string, unknown> | null;

function* texts(content: unknown): Generator<string> {
  if (typeof content === "string") yield content;
  if (!Array.isArray(content)) return;
  for (const part of content as Fields[]) {
    if (part?.["type"] === "text" && typeof part["text"] === "string") yield part["text"];
    if (part?.["type"] === "tool-call") yield* strings(part["input"]);
    if (part?.["type"] === "tool-result") yield* strings(part["result"]);
  }
}

/** Not recursive: a model may nest arguments deeper than the stack. */
function* strings(json: unknown): Generator<string> {
  const left = [json];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") yield value;
    if (typeof value !== "object" || value === null) continue;
    for (const child of Object.values(value).toReversed()) left.push(child);
  }
}
