import { CinchError } from "../errors.ts";
import type { EndReason } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieEntries, trieGet } from "../folds/trie.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import type { Thread } from "../thread/thread.ts";
import type { TurnResult } from "../thread/turn-results.ts";

const RETRYABLE: ReadonlySet<EndReason> = new Set(["error", "max_steps", "budget", "aborted"]);

/**
 * Goes on after the last turn, as a turn of its own without a message. Callers that want the same turn to go on share one retry. A
 * promise within one: other commands may come while the turn runs.
 */
export async function retry(thread: Thread): Promise<{ turn: Promise<TurnResult> }> {
  await thread.refresh();
  const meant = lastTurn(thread.state);
  const { modes, ids } = thread.ports;
  const [turnId, inputId] = [ids("turn"), ids("input")];
  const waiter = thread.results.add(inputId);
  try {
    const shared = await thread.command((state) => {
      refuseForeign(state.foreign);
      const { turn, control } = state;
      if (turn && turn.retries !== null && turn.retries === meant)
        return { events: [], result: trieEntries(turn.inputIds).next().value![0] };
      refuseRetry(state, meant);
      const mode = modes.current(control);
      const last = { turnId: meant!, modeId: mode.id, modelId: modes.modelId(control, mode) };
      return { events: [{ type: "input_accepted", turnId, inputId, delivery: "send", content: "", retry: last }] };
    });
    if (shared === undefined) return { turn: waiter.result };
    waiter.cancel();
    return { turn: resultOf(thread, shared) };
  } catch (error) {
    waiter.cancel();
    throw error;
  }
}

/** The result of a turn that another caller has retried, which may have ended since. */
function resultOf(thread: Thread, inputId: string): Promise<TurnResult> {
  const { result } = thread.results.add(inputId);
  thread.results.accepted(inputId);
  if (thread.state.ended && trieGet(thread.state.ended.inputIds, inputId)) thread.results.turnEnded(thread.state);
  else thread.results.dropLost(thread.state);
  return result;
}

/** The turn that a caller has in mind: the last one that ended, also while it is being retried. */
const lastTurn = ({ turn, ended }: ThreadState): string | undefined => turn?.retries ?? ended?.turnId;

function refuseRetry({ turn, ended }: ThreadState, meant: string | undefined): void {
  if (turn) throw refused("a turn is under way. Wait until it has ended, or abort it");
  if (!ended || ended.turnId !== meant) throw refused("no turn has ended here since. Send a message");
  if (!RETRYABLE.has(ended.reason))
    throw refused(`the last turn ended with the reason "${ended.reason}". Send a message to go on`);
}

const refused = (why: string): CinchError => new CinchError("INVALID_INPUT", `There is nothing to retry: ${why}.`);
