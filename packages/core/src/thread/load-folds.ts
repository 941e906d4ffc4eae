import type { DurableEvent } from "../events/event-map.ts";
import { reduceAll, type Folds } from "../folds/folds.ts";
import { isMemoryEvent, type MemoryBlocks } from "../folds/memory-blocks.ts";
import type { ThreadState } from "../folds/state.ts";
import { emptyTranscript, reduceTranscript, spoken, type KeptEntry, type Transcript } from "../folds/transcript.ts";

/** Reads events of one thread, in their current versions. */
export type ReadEvents = (range: { after: number; upTo: number; limit: number }) => Promise<DurableEvent[]>;

/** How many events are read and folded at once. */
const CHUNK = 2_000;

/** Brings `from` up to date with the journal. Starts from `empty` instead if a rewind has reverted events of `from`. */
export async function loadFolds(
  read: ReadEvents,
  { from, empty, upTo }: { from: Folds; empty: Folds; upTo: number },
): Promise<Folds> {
  let folds = from;
  for await (const events of chunks(read, { after: from.state.seq, upTo })) {
    // Another process may have rewound the thread since the events before these were read.
    const { seq } = folds.state;
    if (seq > 0 && events.some(isCut) && !(await isInForce(read, seq)))
      return loadFolds(read, { from: empty, empty, upTo });
    // Without events, the saved messages need not be parsed.
    if (events.length > 0) folds = reduceAll(folds, events);
  }
  return folds;
}

const isCut = ({ type }: DurableEvent): boolean => type === "thread_rewound" || type === "thread_cloned";

/** False if a rewind has reverted this event, so that folds that include it are not valid any more. */
export async function isInForce(read: ReadEvents, seq: number): Promise<boolean> {
  const [last] = await read({ after: seq - 1, upTo: seq, limit: 1 });
  return last?.seq === seq;
}

/** `from`: the transcript up to an event, if it is known. Otherwise reads only the events that the memory does not cover. */
export async function loadTranscript(
  read: ReadEvents,
  { seq, context: { memory } }: ThreadState,
  from?: { transcript: Transcript; seq: number },
): Promise<Transcript> {
  let transcript = from?.transcript ?? (await afterBlocks(read, memory));
  for await (const events of chunks(read, { after: from?.seq ?? memory.coveredSeq, upTo: seq }))
    transcript = events.filter((event) => from || !isMemoryEvent(event)).reduce(reduceTranscript, transcript);
  return transcript;
}

/** The transcript at `coveredSeq`. Its memory has all blocks already. */
async function afterBlocks(read: ReadEvents, memory: MemoryBlocks): Promise<Transcript> {
  const kept = await Promise.all(memory.kept.map((seq) => keptEntry(read, seq)));
  return { ...emptyTranscript, by: memory.by, memory, kept: kept.flat() };
}

async function keptEntry(read: ReadEvents, seq: number): Promise<KeptEntry[]> {
  const [event] = await read({ after: seq - 1, upTo: seq, limit: 1 });
  const isUser = event?.type === "message_end" && event.message.role === "user" && !event.interrupted;
  const entry = isUser ? spoken("user", event.message.content) : null;
  return entry ? [{ seq, entry }] : [];
}

async function* chunks(read: ReadEvents, { after, upTo }: { after: number; upTo: number }) {
  for (let last = after; ;) {
    const events = await read({ after: last, upTo, limit: CHUNK });
    yield events;
    if (events.length < CHUNK) return;
    last = events.at(-1)!.seq;
  }
}
