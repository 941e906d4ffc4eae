import type { Call } from "./folds/call.ts";
import type { ThreadState } from "./folds/state.ts";
import type { Thread } from "./thread.ts";

/** What a call can wait for: a yes, or data. */
export type Waits = "asking" | "suspended";

/** The calls that wait for a person. None does in a turn that is being aborted. */
export const callsThat = ({ turn }: ThreadState, waits: Waits): readonly Call[] =>
  turn && !turn.aborting ? turn.calls.filter(({ state }) => state === waits) : [];

interface Named {
  toolCallId?: string;
  threadId?: string;
}

/**
 * What a seat is answering. An answer is for the call that the seat saw when it was given; and who answers "the oldest" twice, before
 * the first answer has arrived, means two calls.
 */
export class Answering {
  readonly #underWay = new Set<number>();

  /** The call that is meant, if the seat can see it, and how to remember that it is being answered. */
  bind(thread: Thread | null, waits: Waits, { toolCallId, threadId = thread?.id }: Named = {}) {
    const calls = thread && thread.id === threadId ? callsThat(thread.state, waits) : [];
    const call = calls.find((one) =>
      toolCallId === undefined ? !this.#underWay.has(one.asked) : one.toolCallId === toolCallId,
    );
    const until = <T>(answered: Promise<T>): Promise<T> => {
      if (!call) return answered;
      this.#underWay.add(call.asked);
      return answered.finally(() => this.#underWay.delete(call.asked));
    };
    return { call, until };
  }
}
