import { CinchError } from "../errors.ts";
import type { EndReason } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieEntries, trieGet } from "../folds/trie.ts";
import { resultOfInput } from "../queries/input-result.ts";
import type { Again, SignedThread } from "../thread/signed-thread.ts";
import type { Thread } from "../thread/thread.ts";
import type { TurnResult } from "../thread/turn-results.ts";
import { refuseUndriven } from "./refuse-undriven.ts";

const RETRYABLE: ReadonlySet<EndReason> = new Set(["error", "max_steps", "budget", "aborted"]);

/**
 * Continues after the last turn, in a new turn without a message. Callers that retry the same turn share one new turn. The inner promise
 * settles when that turn ends, so that the session accepts other commands meanwhile.
 */
export async function retry(signed: SignedThread): Promise<{ turn: Promise<TurnResult> }> {
  const { thread } = signed;
  await thread.refresh();
  const retried = lastTurn(thread.state);
  const { modes, ids } = thread.ports;
  const [turnId, inputId] = [ids("turn"), ids("input")];
  const waiter = thread.results.add(inputId);
  try {
    const sharedInputId = await signed.command((state) => {
      const { turn, control } = state;
      if (turn && turn.retries !== null && turn.retries === retried)
        return { events: [], result: trieEntries(turn.inputIds).next().value![0] };
      checkRetryable(state, retried);
      refuseUndriven(modes, control);
      const mode = modes.current(control);
      const last = { turnId: retried!, modeId: mode.id, modelId: modes.modelId(control, mode) };
      const accepted = { type: "input_accepted" as const, turnId, inputId, delivery: "send" as const, content: "" };
      return { events: [{ ...accepted, retry: last }], answer: inputId };
    });
    if (sharedInputId === undefined) return { turn: waiter.result };
    waiter.cancel();
    return { turn: resultOf(thread, sharedInputId) };
  } catch (error) {
    waiter.cancel();
    throw error;
  }
}

/** The result of a retry that was given before. */
export const retriedBefore: Again<{ turn: Promise<TurnResult> }> = (thread, { answer }) =>
  resultOfInput(thread, { inputId: answer as string });

/** The result of the turn that another caller's retry started. The turn may have ended since. */
function resultOf(thread: Thread, inputId: string): Promise<TurnResult> {
  const { result } = thread.results.add(inputId);
  thread.results.accepted(inputId);
  if (thread.state.ended && trieGet(thread.state.ended.inputIds, inputId)) thread.results.turnEnded(thread.state);
  else thread.results.dropLost(thread.state);
  return result;
}

/** The turn that a retry is for: the last one that ended, also while another retry of it runs. */
const lastTurn = ({ turn, ended }: ThreadState): string | undefined => turn?.retries ?? ended?.turnId;

function checkRetryable({ turn, ended }: ThreadState, retried: string | undefined): void {
  if (turn) throw nothingToRetry("a turn is under way. Wait until it has ended, or abort it");
  if (!ended || ended.turnId !== retried) throw nothingToRetry("no turn has ended, or a newer one has. Send a message");
  if (!RETRYABLE.has(ended.reason))
    throw nothingToRetry(`the last turn ended with the reason "${ended.reason}". Send a message to continue`);
}

const nothingToRetry = (why: string): CinchError =>
  new CinchError("INVALID_INPUT", `There is nothing to retry: ${why}.`);
