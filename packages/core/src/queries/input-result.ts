import { CinchError } from "../errors.ts";
import { isInForce } from "../thread/load-folds.ts";
import type { Thread } from "../thread/thread.ts";
import { NEVER_ANSWERED, type TurnResult } from "../thread/turn-results.ts";
import { outcomeOf } from "./history.ts";

/**
 * What became of an input that the thread has accepted, in this process or another. The inner promise settles as that of `sendMessage`
 * does, so that the session accepts other commands meanwhile.
 */
export async function resultOfInput(
  thread: Thread,
  { inputId, signal }: { inputId: string; signal?: AbortSignal | undefined },
): Promise<{ turn: Promise<TurnResult> }> {
  await thread.refresh();
  signal?.throwIfAborted();
  const seq = await thread.ports.store.findInput(thread.id, inputId, { all: true });
  if (seq === undefined)
    throw new CinchError(
      "INVALID_INPUT",
      `The thread "${thread.id}" has accepted no input "${inputId}". Give an inputId that post() returned.`,
    );
  return resultOfAccepted(thread, { inputId, seq, signal });
}

/** The result of the turn that takes the input which was accepted at `seq`. */
export async function resultOfAccepted(
  thread: Thread,
  { inputId, seq, signal }: { inputId: string; seq: number; signal?: AbortSignal | undefined },
): Promise<{ turn: Promise<TurnResult> }> {
  // A rewind has reverted it.
  if (!(await isInForce((range) => thread.read(range), seq))) return { turn: Promise.resolve(NEVER_ANSWERED) };
  const waiter = thread.results.add(inputId);
  try {
    thread.results.accepted(inputId);
    const settled = await outcomeOf(thread, inputId, seq);
    // It failed before this caller came, and tries again only after a command.
    if (!settled && thread.supervisor.broken) throw thread.supervisor.broken;
    if (!settled) return { turn: signal ? orCancelled(waiter, signal) : waiter.result };
    waiter.cancel();
    return { turn: Promise.resolve(settled) };
  } catch (error) {
    waiter.cancel();
    throw error;
  }
}

/** Rejects with the reason of the signal when it is aborted, and waits no longer. */
function orCancelled(
  { result, cancel }: { result: Promise<TurnResult>; cancel(): void },
  signal: AbortSignal,
): Promise<TurnResult> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      // oxlint-disable-next-line prefer-promise-reject-errors: the caller chose the reason.
      reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
