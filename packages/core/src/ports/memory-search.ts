import type { StampedEvent } from "../events/event-map.ts";
import { eventText, offloadedBlob } from "./event-text.ts";
import { rowsOf, threadNotFound, type MemoryThread, type StoredRow } from "./memory-thread.ts";
import type { EventQuery, FoundEvent } from "./store.ts";
import { normalize, queryWords, wordsOf } from "./words.ts";

interface Data {
  readonly threads: ReadonlyMap<string, MemoryThread>;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

interface Match extends FoundEvent {
  /** At most that of the next newer match in the same thread. */
  at: number;
}

const DEFAULT_LIMIT = 20;

/** Searches without an index: it reads every event in question. */
export class MemorySearch {
  readonly #data: Data;

  constructor(data: Data) {
    this.#data = data;
  }

  mentions(thread: MemoryThread, query: string): boolean {
    const title = normalize(thread.record.title);
    const words = queryWords(query);
    if (words.length === 0) return title.includes(normalize(query.trim()));
    const textWords = rowsIn(thread).flatMap((row) => this.#wordsOf(row));
    return words.every((word) => title.includes(word) || textWords.some((other) => other.startsWith(word)));
  }

  events(query: EventQuery): FoundEvent[] {
    const { limit = DEFAULT_LIMIT } = query;
    const words = queryWords(query.query);
    if (words.length === 0) return [];
    const sources = "threadId" in query ? [this.#ofThread(query)] : this.#ofResource(query.resourceId);
    const found = sources.flatMap(({ threadId, rows }) => this.#newest(rows, { threadId, words, limit }));
    return found
      .toSorted((a, b) => b.at - a.at)
      .slice(0, limit)
      .map(({ threadId, seq }) => ({ threadId, seq }));
  }

  #ofThread({ threadId, before = Infinity }: { threadId: string; before?: number }): {
    threadId: string;
    rows: StoredRow[];
  } {
    const thread = this.#data.threads.get(threadId);
    if (!thread) throw threadNotFound(threadId);
    return { threadId, rows: rowsIn(thread).filter(({ seq }) => seq < before) };
  }

  /** Each row once. Threads are in the order of their creation. */
  #ofResource(resourceId: string): { threadId: string; rows: StoredRow[] }[] {
    const threads = [...this.#data.threads.values()].filter(({ record }) => record.resourceId === resourceId);
    const threadOf = new Map<StoredRow, MemoryThread>();
    for (const thread of threads) for (const row of rowsIn(thread, thread.journal)) threadOf.set(row, thread);
    for (const thread of threads) for (const row of rowsIn(thread)) if (!threadOf.has(row)) threadOf.set(row, thread);
    return threads.map((thread) => {
      const rows = rowsIn(thread).filter((row) => threadOf.get(row) === thread);
      return { threadId: thread.record.id, rows };
    });
  }

  #newest(rows: readonly StoredRow[], query: { threadId: string; words: string[]; limit: number }): Match[] {
    const { threadId, words, limit } = query;
    const found: Match[] = [];
    for (let at = rows.length - 1; at >= 0 && found.length < limit; at--) {
      const row = rows[at]!;
      const others = this.#wordsOf(row);
      const matches = words.every((word) => others.some((other) => other.startsWith(word)));
      if (!matches) continue;
      // Clocks differ between processes, and the events of a thread must stay in order.
      const time = Math.min((JSON.parse(row.json) as StampedEvent).at, found.at(-1)?.at ?? Infinity);
      found.push({ threadId, seq: row.seq, at: time });
    }
    return found;
  }

  #wordsOf({ json }: StoredRow): string[] {
    // Most events can be skipped without parsing them.
    if (!SEARCHED.some((type) => json.includes(type))) return [];
    const event = JSON.parse(json) as StampedEvent;
    const blob = this.#data.blobs.get(offloadedBlob(event) ?? "");
    return wordsOf(blob ? new TextDecoder().decode(blob) : eventText(event));
  }
}

const SEARCHED = ["message_end", "tool_end", "context_offloaded"].map((type) => JSON.stringify(type));

/** `journal`: only the rows of this journal. */
const rowsIn = ({ segments }: MemoryThread, journal?: StoredRow[]): StoredRow[] =>
  segments
    .filter((segment) => journal === undefined || segment.journal === journal)
    .flatMap((segment) => rowsOf(segment));
