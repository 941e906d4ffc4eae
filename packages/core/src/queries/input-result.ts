import { CinchError } from "../errors.ts";
import type { Thread } from "../thread/thread.ts";
import type { TurnResult } from "../thread/turn-results.ts";
import { outcomeOf } from "./history.ts";

/**
 * What became of an input that the thread has accepted, in this process or another. The inner promise settles as that of `sendMessage`
 * does, so that the session accepts other commands meanwhile.
 */
export async function resultOfInput(thread: Thread, inputId: string): Promise<{ turn: Promise<TurnResult> }> {
  await thread.refresh();
  const seq = await thread.ports.store.findInput(thread.id, inputId, { all: true });
  if (seq === undefined)
    throw new CinchError(
      "INVALID_INPUT",
      `The thread "${thread.id}" has accepted no input "${inputId}". Give an inputId that post() returned.`,
    );
  const [event] = await thread.read({ after: seq - 1, upTo: seq, limit: 1 });
  // A rewind has reverted it.
  if (!event) return { turn: Promise.resolve({ reason: "aborted", message: null }) };
  return resultOfAccepted(thread, inputId, seq);
}

/** The result of the turn that takes the input which was accepted at `seq`. */
export async function resultOfAccepted(
  thread: Thread,
  inputId: string,
  seq: number,
): Promise<{ turn: Promise<TurnResult> }> {
  const waiter = thread.results.add(inputId);
  try {
    thread.results.accepted(inputId);
    const settled = await outcomeOf(thread, inputId, seq);
    if (!settled) return { turn: waiter.result };
    waiter.cancel();
    return { turn: Promise.resolve(settled) };
  } catch (error) {
    waiter.cancel();
    throw error;
  }
}
