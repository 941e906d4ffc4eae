import { CinchError } from "../errors.ts";
import type { EndReason } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import { refuseForeign } from "./input.ts";
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
  let waiter: ReturnType<Thread["waiters"]["add"]> | undefined;
  const wait = (inputId: string) => {
    waiter?.cancel();
    waiter = thread.waiters.add(inputId);
  };
  try {
    await thread.command((state) => {
      refuseForeign(state.foreign);
      const { turn, control } = state;
      if (turn && turn.retries !== null && turn.retries === meant) {
        wait(turn.inputIds[0]!);
        return null;
      }
      refuseRetry(state, meant);
      const { modes, ids } = thread.ports;
      const mode = modes.current(control);
      const last = { turnId: meant!, modeId: mode.id, modelId: modes.modelId(control, mode) };
      const [turnId, inputId] = [ids("turn"), ids("input")];
      wait(inputId);
      return [{ type: "input_accepted", turnId, inputId, delivery: "send", content: "", retry: last }];
    });
    return { turn: waiter!.result };
  } catch (error) {
    waiter?.cancel();
    throw error;
  }
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
