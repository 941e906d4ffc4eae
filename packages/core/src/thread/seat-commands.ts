import type { AnswerTarget, FindCall } from "../commands/answer-target.ts";
import { optionsOf, type CheckedOptions, type MethodName } from "../commands/options.ts";
import type { Seat } from "./seat.ts";
import { SignedThread, type Again, type Action } from "./signed-thread.ts";
import type { Thread } from "./thread.ts";

interface Giver {
  by: string | undefined;
  /** Recognises a repetition of the command. */
  commandId: string | undefined;
  /** Enters a thread, if the seat is at none. */
  select(): Promise<{ id: string }>;
}

/** The commands of one person at a seat. Each is for the thread that was current at the call, and runs after those before it. */
export class SeatCommands {
  readonly #seat: Seat;
  readonly #giver: Giver;

  constructor(seat: Seat, giver: Giver) {
    this.#seat = seat;
    this.#giver = giver;
  }

  /** A command that happens once, if it has an id. `again`: what a repetition is answered with; default: nothing. */
  give<T>(work: Action<T>, { again }: { again?: Again<T> } = {}): Promise<T> {
    return this.run(this.#once(work, again));
  }

  /** The same, with options. They are checked at the call: a command that is refused does nothing, and creates no thread. */
  async given<M extends MethodName, T>(
    method: M,
    options: unknown,
    work: (signed: SignedThread, options: CheckedOptions<M>) => Promise<T>,
    again?: Again<T>,
  ): Promise<T> {
    const valid = optionsOf(method, options);
    return this.give((signed) => work(signed, valid), again && { again });
  }

  /** The answer to a call. It keeps its place among the commands while the call is looked for. */
  answer(target: Promise<AnswerTarget>, give: (find: FindCall) => Action<void>): Promise<void> {
    return this.#seat.queue.run(async () => {
      const { threadId, find, until } = await target;
      return until(this.at(threadId, this.#once(give(find))));
    });
  }

  #once<T>(work: Action<T>, again: Again<T> = async () => undefined as T): Action<T> {
    const { by, commandId } = this.#giver;
    return ({ thread }) => new SignedThread(thread, { by, commandId }).once(work, again);
  }

  query<T>(work: (thread: Thread) => Promise<T>): Promise<T> {
    return this.run(({ thread }) => work(thread));
  }

  /** A query with options, which are checked at the call. */
  async asked<M extends MethodName, T>(
    method: M,
    options: unknown,
    work: (thread: Thread, options: CheckedOptions<M>) => Promise<T>,
  ): Promise<T> {
    const valid = optionsOf(method, options);
    return this.query((thread) => work(thread, valid));
  }

  run<T>(work: Action<T>): Promise<T> {
    const threadId = this.#seat.thread?.id;
    return this.#seat.queue.run(() => this.at(threadId, work));
  }

  /** The same, in the middle of a command. */
  async at<T>(threadId: string | undefined, work: Action<T>): Promise<T> {
    const { by, select } = this.#giver;
    const id = threadId ?? this.#seat.thread?.id ?? (await select()).id;
    return this.#seat.visit(id, (thread) => work(new SignedThread(thread, { by })));
  }
}
