import { CinchError } from "../errors.ts";
import { isInForce } from "../thread/load-folds.ts";
import type { Thread } from "../thread/thread.ts";

/** Rejects if this is not the `seq` of an event of the thread that is in force. `name`: of the option. */
export async function refuseReverted(thread: Thread, name: string, seq: number): Promise<void> {
  const { seq: last } = thread.state;
  if (!Number.isInteger(seq) || seq < 1 || seq > last)
    throw new CinchError(
      "INVALID_INPUT",
      `${name} must be a whole number from 1 to ${last}, the seq of an event of this thread.`,
    );
  if (await isInForce((range) => thread.read(range), seq)) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${name} is ${seq}, which a rewind has reverted. Take the seq of an event that listEvents() returns.`,
  );
}
