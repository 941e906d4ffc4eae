import type { DurableEvent } from "../events/event-map.ts";
import { readEvent } from "../events/read-event.ts";
import type { Quote } from "../ports/memory.ts";
import type { Store } from "../ports/store.ts";
import { quoteOf } from "./quotes.ts";

/** A message or a result, of this thread or of another one of its resource. */
export interface HistoryQuote extends Quote {
  threadId: string;
}

/** What was said in a thread, also what its prompt no longer holds. */
export interface ThreadHistory {
  /** The messages and results that contain all words, as the beginnings of words, newest first. */
  find(query: { query: string; limit?: number; before?: number }): Promise<HistoryQuote[]>;
  /** The same, of all threads of the thread's resource. */
  findInResource(query: { query: string; limit?: number }): Promise<HistoryQuote[]>;
  /** The messages and results of a range, oldest first. */
  read(range: { from: number; to: number; limit: number }): Promise<HistoryQuote[]>;
}

export function historyOf(store: Store, thread: { threadId: string; resourceId: string }): ThreadHistory {
  const { threadId, resourceId } = thread;
  const quotes = async (of: string, event: DurableEvent | undefined): Promise<HistoryQuote[]> => {
    if (!event) return [];
    const quoted = event.type === "context_offloaded" ? await offloaded(store, event) : quoteOf(readEvent(event));
    return quoted.map((quote) => ({ ...quote, threadId: of }));
  };
  const found = async (events: readonly { threadId: string; seq: number }[]) => {
    const all = await Promise.all(
      events.map(async ({ threadId: of, seq }) => {
        const [event] = await store.read(of, { after: seq - 1, upTo: seq, limit: 1 });
        return quotes(of, event);
      }),
    );
    return all.flat();
  };
  return {
    find: async (query) => found(await store.findEvents({ threadId, ...query })),
    findInResource: async (query) => found(await store.findEvents({ resourceId, ...query })),
    async read({ from, to, limit }) {
      const all: HistoryQuote[] = [];
      for (let after = from - 1; all.length < limit;) {
        const events = await store.read(threadId, { after, upTo: to, limit: 200 });
        for (const event of events)
          if (event.type !== "context_offloaded") all.push(...(await quotes(threadId, event)));
        if (events.length < 200) break;
        after = events.at(-1)!.seq;
      }
      return all.slice(0, limit);
    },
  };
}

/** The whole text of a result or a message of which the prompt had only the beginning and the end. */
async function offloaded(store: Store, event: DurableEvent<"context_offloaded">): Promise<Quote[]> {
  const { seq, at, blob, messageId, path } = event;
  const bytes = await store.blob(blob);
  if (!bytes) return [];
  return [{ seq, at, role: messageId === undefined ? "tool" : "user", text: new TextDecoder().decode(bytes), path }];
}
