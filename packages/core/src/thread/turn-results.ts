import type { ThreadState } from "../folds/state.ts";
import { trieEntries, trieGet } from "../folds/trie.ts";
import type { EndReason } from "../events/event-map.ts";
import type { Message } from "../events/message.ts";

/** How the turn that took an input ended. */
export interface TurnResult {
  reason: EndReason;
  /** The model's last complete answer in that turn. */
  message: Message | null;
  /** Why the model stopped; `length` if the answer was cut off. Missing if there is no answer. */
  finishReason?: string;
  error?: { code: string; message: string; retryable: boolean };
  /** With `budget`: which limit was reached. */
  detail?: string;
}

interface Waiter {
  /** Its input is in the journal. Before that, it can't be dropped. */
  accepted: boolean;
  resolve(result: TurnResult): void;
  reject(error: unknown): void;
}

/** Of an input that was removed, dropped or reverted before its turn ended. */
export const NEVER_ANSWERED: TurnResult = { reason: "aborted", message: null };

/** Callers that wait for the result of the turn that takes their input. */
export class TurnResults {
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #left: () => void;
  #others = 0;

  /** `left` is called when a caller stops waiting without an event that says so. */
  constructor(left: () => void) {
    this.#left = left;
  }

  /** Settles when the turn that took this input has ended. Register before the input is appended. */
  add(inputId: string): { result: Promise<TurnResult>; cancel(): void } {
    const { promise, resolve, reject } = Promise.withResolvers<TurnResult>();
    // The caller may not listen any more when it is rejected.
    promise.catch(() => undefined);
    const waiter = { resolve, reject, accepted: false };
    this.#waiting.set(inputId, [...(this.#waiting.get(inputId) ?? []), waiter]);
    const cancel = () => {
      const others = (this.#waiting.get(inputId) ?? []).filter((other) => other !== waiter);
      if (others.length > 0) this.#waiting.set(inputId, others);
      else this.#waiting.delete(inputId);
      this.#left();
    };
    return { result: promise, cancel };
  }

  get size(): number {
    return this.#waiting.size + this.#others;
  }

  /** Counts a caller that waits for anything else of the thread. */
  async during<T>(waited: Promise<T>): Promise<T> {
    this.#others++;
    return waited.finally(() => {
      this.#others--;
      this.#left();
    });
  }

  accepted(inputId: string): void {
    for (const waiter of this.#waiting.get(inputId) ?? []) waiter.accepted = true;
  }

  turnEnded({ ended, lastError }: ThreadState): void {
    if (!ended) return;
    const { reason, message, finishReason, detail } = ended;
    const error = reason === "error" && lastError ? { error: lastError } : {};
    const more = {
      ...error,
      ...(detail === null ? {} : { detail }),
      ...(message === null ? {} : { finishReason }),
    };
    for (const [inputId] of trieEntries(ended.inputIds)) this.#resolve(inputId, { reason, message, ...more });
  }

  /** Inputs that are neither queued nor in a turn will never be answered. */
  dropLost(state: ThreadState): void {
    for (const inputId of this.#lost(state)) this.#resolve(inputId, NEVER_ANSWERED);
  }

  /** The same after a rewind, which may hide that a turn has ended: `resultOf` asks the journal. If it can't, the callers get its error. */
  async settleLost(state: ThreadState, resultOf: (inputId: string) => Promise<TurnResult>): Promise<void> {
    const settle = async (inputId: string) => {
      // Before the journal is asked: a caller that sends the message again meanwhile waits for another turn.
      const waiters = this.#take(inputId);
      try {
        const result = await resultOf(inputId);
        for (const waiter of waiters) waiter.resolve(result);
      } catch (error) {
        for (const waiter of waiters) waiter.reject(error);
      }
    };
    await this.during(Promise.all(this.#lost(state).map(settle)));
  }

  #lost({ inbox, turn }: ThreadState): string[] {
    const queued = new Set(inbox.map((item) => item.inputId));
    const isAlive = (inputId: string) => queued.has(inputId) || (turn && trieGet(turn.inputIds, inputId));
    const lost = [...this.#waiting].filter(([inputId, [first]]) => first?.accepted && !isAlive(inputId));
    return lost.map(([inputId]) => inputId);
  }

  rejectAll(error: unknown): void {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const waiter of waiting) waiter.reject(error);
  }

  #resolve(inputId: string, result: TurnResult): void {
    for (const waiter of this.#take(inputId)) waiter.resolve(result);
  }

  #take(inputId: string): Waiter[] {
    const waiters = this.#waiting.get(inputId) ?? [];
    this.#waiting.delete(inputId);
    return waiters;
  }
}
