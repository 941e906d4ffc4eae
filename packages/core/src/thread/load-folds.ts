import type { DurableEvent } from "../events/event-map.ts";
import { reduceAll, type Folds } from "../folds/folds.ts";
import { emptyTranscript, reduceTranscript, type Transcript } from "../folds/transcript.ts";

/** Reads events of one thread, lifted to today's shape. */
export type ReadEvents = (range: { after: number; upTo: number; limit: number }) => Promise<DurableEvent[]>;

/** How many events are read and folded before other work gets its turn. */
const CHUNK = 2_000;

/** `from`, brought up to date with the journal; or `empty`, if what `from` holds is not in force any more. */
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
    folds = reduceAll(folds, events);
  }
  return folds;
}

const isCut = ({ type }: DurableEvent): boolean => type === "thread_rewound" || type === "thread_cloned";

/** A rewind to before this event has cut it off, and with it what was folded from it. */
export async function isInForce(read: ReadEvents, seq: number): Promise<boolean> {
  const [last] = await read({ after: seq - 1, upTo: seq, limit: 1 });
  return last?.seq === seq;
}

export async function loadTranscript(read: ReadEvents, upTo: number): Promise<Transcript> {
  let transcript = emptyTranscript;
  for await (const events of chunks(read, { after: 0, upTo })) transcript = events.reduce(reduceTranscript, transcript);
  return transcript;
}

async function* chunks(read: ReadEvents, { after, upTo }: { after: number; upTo: number }) {
  for (let last = after; ;) {
    const events = await read({ after: last, upTo, limit: CHUNK });
    yield events;
    if (events.length < CHUNK) return;
    last = events.at(-1)!.seq;
  }
}
