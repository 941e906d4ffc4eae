/**
 * The text by which a search finds an event, without the text in its blob: see `EventQuery`. Stores do not validate events, so a field may
 * have any shape; what does not fit is left out.
 */
export function eventText(event: { type: string }): string {
  const { message, result } = event as { message?: Fields; result?: Fields };
  if (event.type === "tool_end") return [...textsOf(result?.["content"])].join("\n");
  if (event.type !== "message_end" || message?.["role"] === "note") return "";
  return [...textsOf(message?.["content"])].join("\n");
}

/** The hash of the blob with the text of a result or message that was too long for the prompt. */
export function offloadedBlob(event: { type: string }): string | undefined {
  const { blob } = event as { blob?: unknown };
  return event.type === "context_offloaded" && typeof blob === "string" ? blob : undefined;
}

type Fields = Record<string, unknown> | null;

function* textsOf(content: unknown): Generator<string> {
  if (typeof content === "string") yield content;
  if (!Array.isArray(content)) return;
  for (const part of content as Fields[]) {
    if (part?.["type"] === "text" && typeof part["text"] === "string") yield part["text"];
    if (part?.["type"] === "tool-call") yield* stringsIn(part["input"]);
    if (part?.["type"] === "tool-result") yield* stringsIn(part["result"]);
  }
}

/** In order. Not recursive: a model may nest arguments deeper than the stack. */
function* stringsIn(json: unknown): Generator<string> {
  const left = [json];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") yield value;
    if (typeof value !== "object" || value === null) continue;
    for (const child of Object.values(value).toReversed()) left.push(child);
  }
}
