import type { SeqRange } from "../events/context-events.ts";
import type { DurableEvent } from "../events/event-map.ts";
import { textOf, type Message } from "../events/message.ts";
import type { Quote } from "../ports/memory.ts";

type ReadRange = (range: { after: number; upTo: number; limit: number }) => Promise<DurableEvent[]>;

const CHUNK = 1_000;

/** The messages of a part of a thread, as data for another model. Notes of the harness are left out. */
export async function quotesOf(read: ReadRange, [from, to]: SeqRange): Promise<Quote[]> {
  const quotes: Quote[] = [];
  for (let after = from - 1; ;) {
    const events = await read({ after, upTo: to, limit: CHUNK });
    quotes.push(...events.flatMap(quoteOf));
    if (events.length < CHUNK) return quotes;
    after = events.at(-1)!.seq;
  }
}

/** Nothing, or one quote. */
export function quoteOf(event: DurableEvent): Quote[] {
  const { seq, at } = event;
  if (event.type === "message_end") {
    const { message, interrupted } = event;
    const text = textOfMessage(message);
    return interrupted || message.role === "note" || text === "" ? [] : [{ seq, at, role: message.role, text }];
  }
  if (event.type !== "tool_end") return [];
  const { toolName, isError, result } = event;
  return [{ seq, at, role: "tool", text: `${toolName}${isError ? " failed" : ""}: ${textOf(result.content)}` }];
}

function textOfMessage({ content }: Message): string {
  const lines = content.flatMap((part) => {
    switch (part.type) {
      case "text":
        return [part.text];
      case "tool-call":
        return [`(calls ${part.toolName} with ${JSON.stringify(part.input)})`];
      case "file":
        return [`(a file: ${part.filename ?? part.mediaType})`];
      default:
        return [];
    }
  });
  return lines.filter((line) => line.trim() !== "").join("\n");
}
