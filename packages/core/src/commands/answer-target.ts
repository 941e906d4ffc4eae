import { questionSeq, type Call } from "../folds/call.ts";
import { asksPerson } from "../folds/open-call.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Thread } from "../thread/thread.ts";

/** The states in which a call waits for a person: for an approval, or for data. */
export type WaitingState = "asking" | "suspended";

/** The calls in this state, the oldest question first. In a turn that is about to end, no call waits. */
export function waitingCalls({ turn }: ThreadState, waiting: WaitingState): readonly Call[] {
  if (!turn || turn.aborting || turn.endsAfterCalls) return [];
  const isWaitingSo = (call: Call) => call.state === waiting && asksPerson(call);
  return turn.calls.filter(isWaitingSo).toSorted((a, b) => questionSeq(a) - questionSeq(b));
}

/** Without a `toolCallId`, the oldest waiting call; without a `threadId`, a call of the session's thread or of a descendant of it. */
export interface AnswerAddress {
  toolCallId?: string;
  threadId?: string;
}

/** Finds the call that an answer is for, in the thread that the answer goes to. */
export type FindCall = (thread: Thread) => Promise<Call | undefined>;

interface AnswerTarget {
  /** `undefined`: the session has no thread yet. */
  threadId: string | undefined;
  find: FindCall;
  /** The call stays in flight until the promise settles. */
  until<T>(answered: Promise<T>): Promise<T>;
}

/**
 * Binds each answer of a session to the call that the session saw when the answer was given, whatever happens until it is appended. Two
 * answers to "the oldest call", given before the first is appended, go to two calls.
 */
export class AnswerTargets {
  /** Calls with an answer that is not appended yet, by their thread and the `seq` of their question. */
  readonly #inFlight = new Set<string>();

  bind(thread: Thread | null, waiting: WaitingState, answer: AnswerAddress | undefined): AnswerTarget {
    const child = thread && answer?.threadId === undefined ? this.#inDescendant(thread, waiting, answer) : undefined;
    if (child) {
      const { threadId, toolCallId, seq } = child;
      const isMeant = (call: Call) => call.toolCallId === toolCallId;
      return { threadId, find: refreshAndFind(waiting, isMeant), until: this.#tracking(questionOf(threadId, seq)) };
    }
    const { toolCallId, threadId = thread?.id } = answer ?? {};
    const isMeant = (call: Call) =>
      toolCallId === undefined
        ? !this.#inFlight.has(questionOf(threadId, questionSeq(call)))
        : call.toolCallId === toolCallId;
    const refreshed = refreshAndFind(waiting, isMeant);
    if (!thread || thread.id !== threadId) return { threadId, find: refreshed, until: (answered) => answered };
    const waitingNow = waitingCalls(thread.state, waiting);
    const call = waitingNow.find(isMeant);
    // Every call that the session sees waiting is in flight. The answer is not for one that the session has not seen yet.
    const hasOnlyInFlight = !call && toolCallId === undefined && waitingNow.length > 0;
    const found = call || hasOnlyInFlight ? Promise.resolve(call) : refreshed(thread);
    found.catch(() => undefined);
    const until = call
      ? this.#tracking(questionOf(threadId, questionSeq(call)))
      : <T>(answered: Promise<T>) => answered;
    return { threadId, find: () => found, until };
  }

  /** The question that is meant, if a descendant asks it. */
  #inDescendant({ id, display }: Thread, waiting: WaitingState, { toolCallId }: AnswerAddress = {}) {
    const pending = waiting === "asking" ? display.pendingApprovals : display.pendingSuspensions;
    const meant = Object.values(pending)
      .filter((one) => toolCallId === undefined || one.toolCallId === toolCallId)
      .filter(({ threadId, seq }) => !this.#inFlight.has(questionOf(threadId, seq)))
      .toSorted((a, b) => a.at - b.at);
    return meant[0]?.threadId === id ? undefined : meant[0];
  }

  #tracking(question: string): AnswerTarget["until"] {
    this.#inFlight.add(question);
    return (answered) => answered.finally(() => this.#inFlight.delete(question));
  }
}

const questionOf = (threadId: string | undefined, seq: number): string => `${threadId}:${seq}`;

const refreshAndFind =
  (waiting: WaitingState, isMeant: (call: Call) => boolean): FindCall =>
  async (thread) => {
    await thread.refresh();
    return waitingCalls(thread.state, waiting).find(isMeant);
  };
