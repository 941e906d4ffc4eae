import { AnswerTargets } from "../commands/answer-target.ts";
import type { StateShape } from "../config/state-shape.ts";
import { closedSession } from "../errors.ts";
import type { HarnessEvent } from "../events/event-map.ts";
import type { NewLive } from "../events/live-events.ts";
import { newDisplayState } from "../folds/display.ts";
import type { HarnessDisplayState } from "../folds/display-state.ts";
import type { Folds } from "../folds/folds.ts";
import type { ThreadRecord } from "../ports/store.ts";
import { arriveAt } from "./arrive-at.ts";
import { CommandQueue } from "./command-queue.ts";
import type { ReachableThreads } from "./reachable-threads.ts";
import { Subscribers } from "./subscribers.ts";
import type { Thread } from "./thread.ts";

interface SeatPorts {
  threads: ReachableThreads;
  shape: StateShape;
  now(): number;
  ready(): Promise<void>;
}

/** Whose session it is. */
export interface SeatOwner {
  resourceId: string;
  by: string | undefined;
  /** Default: a new one. */
  seat?: Seat;
  /** Recognises a repetition of the session's command. */
  commandId?: string;
}

/** Where a session is: its current thread, its subscribers, which move with it, and its commands, which run in order. */
export class Seat {
  readonly subscribers: Subscribers;
  readonly queue: CommandQueue;
  readonly answerTargets = new AnswerTargets();
  readonly #shape: StateShape;
  #noThread: HarnessDisplayState | undefined;
  readonly #threads: ReachableThreads;
  readonly #now: () => number;
  #thread: Thread | null = null;
  #offDeleted: (() => void) | undefined;

  constructor({ threads, shape, now, ready }: SeatPorts) {
    this.#threads = threads;
    this.#now = now;
    this.#shape = shape;
    this.subscribers = new Subscribers(now);
    this.queue = new CommandQueue(ready, closedSession);
  }

  get display(): HarnessDisplayState {
    return this.#thread?.display ?? (this.#noThread ??= { ...newDisplayState(null), yolo: this.#shape.yolo });
  }

  get thread(): Thread | null {
    return this.#thread;
  }

  /** `from`: what a clone inherits, if its source is open here. */
  async enter(threadId: string, from?: Folds): Promise<ThreadRecord> {
    if (this.#thread?.id === threadId) return this.#threads.record(threadId);
    const { thread, record } = await this.#threads.acquire(threadId, from);
    this.#move(thread);
    return record;
  }

  /** Runs `work` with the thread, which is opened for it if it is not the current one. */
  visit<T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T> {
    if (this.#thread?.id === threadId) return work(this.#thread);
    return this.#threads.visit(threadId, work);
  }

  /** Delivers an event that is not about a thread. */
  push(event: NewLive): void {
    this.subscribers.push({ ...event, threadId: this.#thread?.id ?? "", at: this.#now() } as HarnessEvent);
  }

  leave(): void {
    this.subscribers.close();
    const thread = this.#thread;
    this.#offDeleted?.();
    this.#thread = null;
    if (thread) this.#threads.release(thread);
  }

  /** Brings the subscribers up to date with the next thread. */
  #move(next: Thread | null): void {
    const previous = this.#thread;
    this.#offDeleted?.();
    this.#thread = next;
    this.subscribers.attach(next);
    this.#offDeleted = next?.onDeleted(() => this.#move(null));
    if (previous) this.#threads.release(previous);
    if (next) arriveAt(next, { previous, subscribers: this.subscribers, at: this.#now() });
  }
}
