import type { Call } from "../folds/call.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Thread } from "../thread/thread.ts";

/** What a call can wait for: a yes, or data. */
export type Waits = "asking" | "suspended";

/** The calls that wait for a person, the oldest question first. None does in a turn that is about to end. */
export function callsThat({ turn }: ThreadState, waits: Waits): readonly Call[] {
  if (!turn || turn.aborting || turn.declined) return [];
  return turn.calls.filter(({ state }) => state === waits).toSorted((a, b) => a.asked - b.asked);
}

interface Named {
  toolCallId?: string;
  threadId?: string;
}

/** Finds the call that an answer is for, at the thread to which it goes. */
export type FindCall = (thread: Thread) => Promise<Call | undefined>;

/**
 * What a seat is answering. An answer is for the call that the seat saw when it was given, whatever happens until it arrives; and who
 * answers "the oldest" twice, before the first answer has arrived, means two calls.
 */
export class AnswerTargets {
  readonly #underWay = new Set<number>();

  bind(thread: Thread | null, waits: Waits, answer: Named | undefined): { find: FindCall; until: Keeper } {
    const { toolCallId, threadId = thread?.id } = answer ?? {};
    const isMeant = (call: Call) =>
      toolCallId === undefined ? !this.#underWay.has(call.asked) : call.toolCallId === toolCallId;
    const look = (from: Thread) => callsThat(from.state, waits).find(isMeant);
    const lookAgain: FindCall = (from) => from.refresh().then(() => look(from));
    if (!thread || thread.id !== threadId) return { find: lookAgain, until: (answered) => answered };
    const call = look(thread);
    // Who sees something that is being answered already, and nothing else, has nothing else in mind.
    const isBlind = toolCallId === undefined && callsThat(thread.state, waits).length > 0;
    const found = call || isBlind ? Promise.resolve(call) : lookAgain(thread);
    found.catch(() => undefined);
    return { find: () => found, until: (answered) => this.#keep(call, answered) };
  }

  async #keep<T>(call: Call | undefined, answered: Promise<T>): Promise<T> {
    if (!call) return answered;
    this.#underWay.add(call.asked);
    return answered.finally(() => this.#underWay.delete(call.asked));
  }
}

type Keeper = <T>(answered: Promise<T>) => Promise<T>;
