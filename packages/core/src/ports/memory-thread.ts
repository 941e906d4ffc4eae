import { CinchError } from "../errors.ts";
import type { StampedEvent } from "../events/event-map.ts";
import { questionChange } from "./thread-changes.ts";
import type { DraftPiece, SavedFold, ThreadRecord } from "./store.ts";

export interface Segment {
  journal: StoredRow[];
  from: number;
  to: number;
}

/** An event, as JSON. */
export interface StoredRow {
  seq: number;
  json: string;
}

export interface MemoryThread {
  record: ThreadRecord;
  segments: Segment[];
  journal: StoredRow[];
  /** `thread_created` or `thread_cloned`. */
  first: StampedEvent;
  /** Order of last activity: `updatedAt` alone ties within a millisecond. */
  touched: number;
  /** A question of its turn was asked, and the turn has not ended. */
  asking: boolean;
  draft: DraftPiece[];
  fold: SavedFold | undefined;
  /** When a driver had to act next. `null`: none has to. */
  wokenAt: number | null;
  dueAt: number | null;
}

export const threadNotFound = (threadId: string): CinchError =>
  new CinchError("THREAD_NOT_FOUND", `There is no thread "${threadId}". listThreads() shows the existing ones.`);

export const lastSeq = (thread: MemoryThread): number =>
  thread.journal.at(-1)?.seq ?? (thread.segments.at(-1)?.from ?? 1) - 1;

/** A read of the newest rows looks at few others, however long the journal is. */
export const rowsOf = ({ journal, from, to }: Segment, after = 0): StoredRow[] =>
  journal.slice(indexFrom(journal, Math.max(from, after + 1)), indexFrom(journal, to + 1));

/** Where the rows from this `seq` on begin. They ascend. */
function indexFrom(journal: readonly StoredRow[], seq: number): number {
  let [low, high] = [0, journal.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (journal[middle]!.seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The segments up to and including `seq`. */
export function segmentsUpTo(segments: readonly Segment[], seq: number): Segment[] {
  return segments.filter(({ from }) => from <= seq).map((segment) => ({ ...segment, to: Math.min(segment.to, seq) }));
}

/** Whether a tool call started the thread. A person's clone of a subagent's thread is not a subagent's. */
export const isSubagent = (event: StampedEvent): boolean =>
  (event.type === "thread_created" && (event.agent ?? event.parent) !== undefined) ||
  (event.type === "thread_cloned" && (event.agent ?? event.parent.toolCallId) !== undefined);

/** The blobs of all events that a thread reads, and of the events that its rewinds reverted. */
export function keptBlobs({ segments, journal }: MemoryThread): string[] {
  const rows = segments.flatMap((segment) => rowsOf(segment)).concat(journal);
  return rows
    .filter(({ json }) => json.includes('"blob":'))
    .flatMap(({ json }) => [...blobsIn(JSON.parse(json) as StampedEvent)]);
}

/** The strings under `blob`, at any depth. */
export function* blobsIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    if (typeof field === "object") yield* blobsIn(field);
    else if (key === "blob" && typeof field === "string") yield field;
  }
}

/** Whether the events ask, answer or end questions to a person. */
export function changesQuestions(thread: MemoryThread, events: readonly StampedEvent[]): boolean {
  let isChanged = false;
  for (const change of events.map(questionChange)) {
    if (change === undefined || (change === "ended" && !thread.asking)) continue;
    thread.asking = change !== "ended";
    isChanged = true;
  }
  return isChanged;
}
