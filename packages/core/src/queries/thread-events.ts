import type { DurableEvent } from "../events/event-map.ts";
import type { Thread } from "../thread/thread.ts";

const DEFAULT_LIMIT = 200;
const MOST_EVENTS = 1_000;
/** Of the JSON of a page. One event may be longer. */
const PAGE_CHARS = 1_000_000;
/** Few, because a chunk is read whole before its size is known. */
const CHUNK = 20;

/**
 * The durable events after the event `after`, in order. A page ends at `limit` events or at 1,000,000 characters of JSON, but has at least
 * one event if there is one: only an empty page means that there are no more.
 */
export async function eventsOf(
  thread: Thread,
  { after = 0, limit = DEFAULT_LIMIT }: { after?: number; limit?: number },
): Promise<DurableEvent[]> {
  const most = Math.min(limit, MOST_EVENTS);
  const page: DurableEvent[] = [];
  let chars = 0;
  for (let last = after; page.length < most;) {
    const chunk = await thread.read({ after: last, limit: Math.min(CHUNK, most - page.length) });
    for (const event of chunk) {
      chars += JSON.stringify(event).length;
      if (chars > PAGE_CHARS && page.length > 0) return page;
      page.push(event);
    }
    if (chunk.length === 0) return page;
    last = chunk.at(-1)!.seq;
  }
  return page;
}
