import { CinchError, type AppendOptions, type StampedEvent } from "@cinch/core";
import { SEQS, type Row } from "./protocol.ts";

const LONGEST_HASH = 256;

export function rowOf(event: StampedEvent): Row {
  const body = JSON.stringify(event);
  return { type: event.type, at: event.at, body, hashes: body.includes('"blob":') ? [...hashesIn(event)] : [] };
}

/** The strings under `blob`, at any depth. */
function* hashesIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    if (typeof field === "object") yield* hashesIn(field);
    else if (key === "blob" && typeof field === "string" && field.length <= LONGEST_HASH) yield field;
  }
}

export const creates = (event: { type: string }): boolean =>
  event.type === "thread_created" || event.type === "thread_cloned";

/** Refuses what no caller can mean. */
export function checkAppend(threadId: string, events: readonly StampedEvent[], options: AppendOptions): void {
  const { afterSeq, epoch, take, release } = options;
  // Two ids that differ only in broken characters would be one id in the file.
  if (!threadId || !threadId.isWellFormed()) throw invalid("A thread's id must be well-formed text.");
  const isSeq = Number.isInteger(afterSeq) && afterSeq >= 0 && afterSeq + events.length < SEQS;
  if (!isSeq) throw invalid(`Nothing can be appended after ${afterSeq}: a seq is a whole number below ${SEQS}.`);
  if (epoch !== undefined && take !== undefined)
    throw invalid("A lease is either held (epoch) or taken (take), not both.");
  if (release && epoch === undefined && take === undefined) throw invalid("Only who has the lease can release it.");
  if (events.slice(1).some(creates)) throw invalid("An event that makes a thread must be its first.");
}

const invalid = (message: string): CinchError => new CinchError("INVALID_INPUT", message);
