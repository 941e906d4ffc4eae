import { asksPerson, type Call } from "../folds/call.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Thread } from "../thread/thread.ts";

/** The states in which a call waits for a person: for an approval, or for data. */
export type WaitingState = "asking" | "suspended";

/** The calls in this state, the oldest question first. In a turn that is about to end, no call waits. */
export function waitingCalls({ turn }: ThreadState, waiting: WaitingState): readonly Call[] {
  if (!turn || turn.aborting || turn.endsAfterCalls) return [];
  const isWaitingSo = (call: Call) => call.state === waiting && asksPerson(call);
  return turn.calls.filter(isWaitingSo).toSorted((a, b) => a.questionSeq - b.questionSeq);
}

/** Without a `toolCallId`, the oldest waiting call; without a `threadId`, the session's thread. */
interface AnswerAddress {
  toolCallId?: string;
  threadId?: string;
}

/** Finds the call that an answer is for, in the thread that the answer goes to. */
export type FindCall = (thread: Thread) => Promise<Call | undefined>;

/**
 * Binds each answer of a session to the call that the session saw when the answer was given, whatever happens until it is appended. Two
 * answers to "the oldest call", given before the first is appended, go to two calls.
 */
export class AnswerTargets {
  /** Calls with an answer that is not appended yet, by the `seq` of their question. */
  readonly #inFlight = new Set<number>();

  /** The call stays in flight until the promise that is passed to `until` settles. */
  bind(
    thread: Thread | null,
    waiting: WaitingState,
    answer: AnswerAddress | undefined,
  ): { find: FindCall; until: TrackAnswer } {
    const { toolCallId, threadId = thread?.id } = answer ?? {};
    const isMeant = (call: Call) =>
      toolCallId === undefined ? !this.#inFlight.has(call.questionSeq) : call.toolCallId === toolCallId;
    const findNow = (from: Thread) => waitingCalls(from.state, waiting).find(isMeant);
    const refreshAndFind: FindCall = (from) => from.refresh().then(() => findNow(from));
    if (!thread || thread.id !== threadId) return { find: refreshAndFind, until: (answered) => answered };
    const call = findNow(thread);
    // Every call that the session sees waiting is in flight. The answer is not for one that the session has not seen yet.
    const hasOnlyInFlight = !call && toolCallId === undefined && waitingCalls(thread.state, waiting).length > 0;
    const found = call || hasOnlyInFlight ? Promise.resolve(call) : refreshAndFind(thread);
    found.catch(() => undefined);
    return { find: () => found, until: (answered) => this.#track(call, answered) };
  }

  async #track<T>(call: Call | undefined, answered: Promise<T>): Promise<T> {
    if (!call) return answered;
    this.#inFlight.add(call.questionSeq);
    return answered.finally(() => this.#inFlight.delete(call.questionSeq));
  }
}

type TrackAnswer = <T>(answered: Promise<T>) => Promise<T>;
