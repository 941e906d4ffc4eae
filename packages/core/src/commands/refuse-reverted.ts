import { CinchError } from "../errors.ts";
import { isInForce } from "../thread/load-folds.ts";
import type { Thread } from "../thread/thread.ts";

/** Throws if the thread has had no event with this `seq`. `name`: of the option. */
export function checkSeq({ state }: Thread, name: string, seq: number): void {
  if (Number.isInteger(seq) && seq >= 1 && seq <= state.seq) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${name} must be a whole number from 1 to ${state.seq}, the seq of an event of this thread.`,
  );
}

/** The same, and rejects if a rewind has reverted the event: no conversation can be as it was then. */
export async function refuseReverted(thread: Thread, name: string, seq: number): Promise<void> {
  checkSeq(thread, name, seq);
  if (await isInForce((range) => thread.read(range), seq)) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${name} is ${seq}, which a rewind has reverted. Take the seq of an event that listEvents() returns.`,
  );
}
