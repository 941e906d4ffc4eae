import { questionSeq, type Call } from "../folds/call.ts";
import { asksPerson } from "../folds/open-call.ts";
import { CinchError } from "../errors.ts";
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

export interface AnswerTarget {
  /** `undefined`: the session has no thread yet. */
  threadId: string | undefined;
  find: FindCall;
  /** The call stays in flight until the promise settles. */
  until<T>(answered: Promise<T>): Promise<T>;
}

/** Where an answer is given. */
interface AnswerPlace {
  /** The session's thread at the call. */
  thread: Thread | null;
  visit<T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T>;
}

interface Answer {
  waiting: WaitingState;
  address: AnswerAddress;
  /** The questions that the answer may be for, as the session saw them at the call. */
  seen: readonly Question[];
}

/** What a call waits for. Models reuse call ids: by its id alone, a later call could be meant. */
interface Question {
  threadId: string;
  toolCallId: string;
  seq: number;
  /** When it was asked. */
  at: number;
}

/**
 * Binds each answer of a session to the question that the session saw when the answer was given, whatever happens until it is appended. Two
 * answers to "the oldest call", given before the first is appended, go to two calls.
 */
export class AnswerTargets {
  /** Questions with an answer that is not appended yet. */
  readonly #inFlight = new Set<string>();
  /** The newest answer whose question is being looked for. The answers after it are bound after it. */
  #unbound: Promise<unknown> | null = null;

  /** Binds at the call, unless the questions are not known here yet: of descendants that are being opened, and of any other thread. */
  bind({ thread, visit }: AnswerPlace, waiting: WaitingState, address: AnswerAddress = {}): Promise<AnswerTarget> {
    const answer = { waiting, address, seen: thread ? questionsIn(thread, waiting, address) : [] };
    const { threadId = thread?.id } = address;
    const isKnown = () => threadId === thread?.id || this.#shown(thread, answer) !== undefined;
    if (!this.#unbound && !thread?.children.isOpening && isKnown()) return Promise.resolve(this.#known(thread, answer));
    const earlier = this.#unbound;
    const look = async () => {
      await earlier?.catch(() => undefined);
      if (thread?.children.isOpening) await thread.children.opened();
      return isKnown() ? this.#known(thread, answer) : this.#elsewhere(threadId!, answer, visit);
    };
    // Also if the session leaves the thread meanwhile, it stays open.
    const bound = thread ? thread.results.during(look()) : look();
    const forget = () => {
      if (this.#unbound === bound) this.#unbound = null;
    };
    this.#unbound = bound;
    bound.then(forget, forget);
    return bound;
  }

  #known(thread: Thread | null, answer: Answer): AnswerTarget {
    const { waiting, address } = answer;
    const shown = this.#shown(thread, answer);
    const waitingNow = thread ? waitingCalls(thread.state, waiting) : [];
    const isHere = shown?.threadId === thread?.id && waitingNow.some((call) => questionSeq(call) === shown?.seq);
    if (shown && !isHere) return this.#to(shown, waiting);
    const isMeant = this.#isMeantIn(thread?.id, answer);
    if (!thread) return { threadId: undefined, find: refreshAndFind(waiting, isMeant), until: (answered) => answered };
    const call = waitingNow.find(isMeant);
    // Every call that the session sees waiting is in flight. The answer is not for one that the session has not seen yet.
    const hasOnlyInFlight = !call && address.toolCallId === undefined && waitingNow.length > 0;
    const found = call || hasOnlyInFlight ? Promise.resolve(call) : refreshAndFind(waiting, isMeant)(thread);
    found.catch(() => undefined);
    const until = call ? this.#tracking(keyOf(thread.id, questionSeq(call))) : <T>(answered: Promise<T>) => answered;
    return { threadId: thread.id, find: () => found, until };
  }

  /** In a thread whose questions the session does not see. If it can't be opened yet, a command before this one may create it. */
  async #elsewhere(threadId: string, answer: Answer, visit: AnswerPlace["visit"]): Promise<AnswerTarget> {
    const { waiting } = answer;
    const find = refreshAndFind(waiting, this.#isMeantIn(threadId, answer));
    const call = await visit(threadId, find).catch(ifNotFound);
    if (!call) return { threadId, find, until: (answered) => answered };
    return this.#to({ threadId, toolCallId: call.toolCallId, seq: questionSeq(call) }, waiting);
  }

  #to({ threadId, toolCallId, seq }: Omit<Question, "at">, waiting: WaitingState): AnswerTarget {
    const isMeant = (call: Call) => call.toolCallId === toolCallId && questionSeq(call) === seq;
    return { threadId, find: refreshAndFind(waiting, isMeant), until: this.#tracking(keyOf(threadId, seq)) };
  }

  /**
   * The oldest question that the session sees, or saw at the call, and that the answer may be for. One that waits no more has been answered
   * elsewhere: the answer is not for the next one then.
   */
  #shown(thread: Thread | null, answer: Answer): Question | undefined {
    const now = thread ? questionsIn(thread, answer.waiting, answer.address) : [];
    const known = new Set(now.map(({ threadId, seq }) => keyOf(threadId, seq)));
    const gone = answer.seen.filter(({ threadId, seq }) => !known.has(keyOf(threadId, seq)));
    const shown = [...now, ...gone].toSorted((a, b) => a.at - b.at || a.seq - b.seq);
    return shown.find(({ threadId, seq }) => this.#isFree(threadId, seq, answer));
  }

  #isMeantIn(threadId: string | undefined, answer: Answer) {
    const { toolCallId } = answer.address;
    return (call: Call): boolean =>
      toolCallId === undefined
        ? this.#isFree(threadId, questionSeq(call), answer)
        : call.toolCallId === toolCallId && !isUnseen(threadId, questionSeq(call), answer);
  }

  #isFree(threadId: string | undefined, seq: number, answer: Answer): boolean {
    return !this.#inFlight.has(keyOf(threadId, seq)) && !isUnseen(threadId, seq, answer);
  }

  #tracking(question: string): AnswerTarget["until"] {
    this.#inFlight.add(question);
    const forget = () => void this.#inFlight.delete(question);
    // Answers that were given before this one ended, and are not bound yet, are for other questions.
    return (answered) => answered.finally(() => void (this.#unbound ?? Promise.resolve()).then(forget, forget));
  }
}

/** Whether the session saw other questions of the thread at the call, which the answer may be for, and not this one. */
function isUnseen(threadId: string | undefined, seq: number, { seen }: Answer): boolean {
  const ofThread = seen.filter((one) => one.threadId === threadId);
  return ofThread.length > 0 && !ofThread.some((one) => one.seq === seq);
}

/** The questions of the thread and its descendants that have this address, the oldest first. */
function questionsIn({ display }: Thread, waiting: WaitingState, address: AnswerAddress): readonly Question[] {
  const pending = waiting === "asking" ? display.pendingApprovals : display.pendingSuspensions;
  return Object.values(pending)
    .filter(({ toolCallId }) => toolCallId === (address.toolCallId ?? toolCallId))
    .filter(({ threadId }) => threadId === (address.threadId ?? threadId))
    .toSorted((a, b) => a.at - b.at);
}

const ifNotFound = (error: unknown): undefined => {
  if (error instanceof CinchError && error.code === "THREAD_NOT_FOUND") return undefined;
  throw error;
};

const keyOf = (threadId: string | undefined, seq: number): string => `${threadId}:${seq}`;

const refreshAndFind =
  (waiting: WaitingState, isMeant: (call: Call) => boolean): FindCall =>
  async (thread) => {
    await thread.refresh();
    return waitingCalls(thread.state, waiting).find(isMeant);
  };
