import type { DurableEvent } from "../events/event-map.ts";
import { readEvent } from "../events/read-event.ts";
import type { Quote } from "../ports/memory.ts";
import type { FoundEvent, Store } from "../ports/store.ts";
import { quoteOf } from "./quotes.ts";

/** A message or a result, of this thread or of another one of its resource. */
export interface HistoryQuote extends Quote {
  threadId: string;
}

interface HistoryQuery {
  query: string;
  /** How many quotes. Default 20. */
  limit?: number;
  /** What it refuses does not count: the search goes on with older events. */
  accept?: (quote: HistoryQuote) => boolean;
}

const DEFAULT_LIMIT = 20;
/** How many events are found first for each quote, how much the next page is larger, and how many are looked at, at most. */
const FOUND_PER_QUOTE = 5;
const NEXT_PAGE = 4;
const MOST_FOUND = 5_000;

/** What was said in a thread, also what its prompt no longer holds. */
export interface ThreadHistory {
  /** The messages and results that contain all words, as the beginnings of words, newest first. */
  find(query: HistoryQuery & { from?: number; before?: number }): Promise<HistoryQuote[]>;
  /** The same, of all threads of the thread's resource. */
  findInResource(query: HistoryQuery): Promise<HistoryQuote[]>;
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
  const quotesOf = async (events: readonly FoundEvent[]) => {
    const all = await Promise.all(
      events.map(async ({ threadId: of, seq }) => {
        const [event] = await store.read(of, { after: seq - 1, upTo: seq, limit: 1 });
        return quotes(of, event);
      }),
    );
    return all.flat();
  };
  /** `page`: at most `size` events that are older than the `known` ones; fewer, if there are no more. */
  const paged = async (
    { limit = DEFAULT_LIMIT, accept = () => true }: Omit<HistoryQuery, "query">,
    page: (size: number, known: readonly FoundEvent[]) => Promise<FoundEvent[]>,
  ) => {
    const accepted: HistoryQuote[] = [];
    const known: FoundEvent[] = [];
    for (let most = limit * FOUND_PER_QUOTE; accepted.length < limit && known.length < MOST_FOUND; most *= NEXT_PAGE) {
      const size = Math.min(most, MOST_FOUND - known.length);
      const events = await page(size, known);
      accepted.push(...(await quotesOf(events)).filter(accept));
      known.push(...events);
      if (events.length < size) break;
    }
    return accepted.slice(0, limit);
  };
  return {
    find: ({ query, from = 0, before, ...wanted }) =>
      paged(wanted, async (limit, known) => {
        const end = known.at(-1)?.seq ?? before;
        const older = end === undefined ? {} : { before: end };
        return (await store.findEvents({ threadId, query, limit, ...older })).filter(({ seq }) => seq >= from);
      }),
    findInResource: ({ query, ...wanted }) =>
      paged(wanted, async (size, known) => {
        // The threads of a resource are merged by time, so a page can't begin after an event.
        const found = await store.findEvents({ resourceId, query, limit: known.length + size });
        const seen = new Set(known.map(keyOf));
        return found.filter((event) => !seen.has(keyOf(event)));
      }),
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

const keyOf = ({ threadId, seq }: FoundEvent): string => `${threadId} ${seq}`;

/** The whole text of a result or a message of which the prompt had only the beginning and the end. */
async function offloaded(store: Store, event: DurableEvent<"context_offloaded">): Promise<Quote[]> {
  const { seq, at, blob, messageId, path } = event;
  const bytes = await store.blob(blob);
  if (!bytes) return [];
  return [{ seq, at, role: messageId === undefined ? "tool" : "user", text: new TextDecoder().decode(bytes), path }];
}
