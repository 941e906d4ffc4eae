import { CinchError } from "@cinch/core";
import type { AppendOptions, StampedEvent } from "@cinch/core/store";
import { SEQS } from "./protocol.ts";
import { createsThread } from "./serialized-event.ts";

/** Throws `INVALID_INPUT` for an append that makes no sense. */
export function checkAppend(threadId: string, events: readonly StampedEvent[], options: AppendOptions): void {
  const { afterSeq, epoch, take, release } = options;
  // SQLite stores lone surrogates as one and the same character, so that two ids could become equal.
  if (!threadId || !threadId.isWellFormed()) throw invalid("A thread's id must be well-formed text.");
  const isSeq = Number.isInteger(afterSeq) && afterSeq >= 0 && afterSeq + events.length < SEQS;
  if (!isSeq) throw invalid(`Nothing can be appended after ${afterSeq}: a seq is a whole number below ${SEQS}.`);
  if (epoch !== undefined && take !== undefined)
    throw invalid("A lease is either held (epoch) or taken (take), not both.");
  if (release && epoch === undefined && take === undefined)
    throw invalid("An append that releases a lease must hold it (epoch) or take it (take).");
  if (events.slice(1).some(createsThread)) throw invalid("An event that creates a thread must be its first event.");
}

const invalid = (message: string): CinchError => new CinchError("INVALID_INPUT", message);
