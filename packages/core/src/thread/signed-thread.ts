import { refuseForeign } from "../commands/refuse-foreign.ts";
import type { GivenCommand, NewEvent } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Decide, Proposal } from "../turn/decide.ts";
import type { Thread } from "./thread.ts";

interface Signature {
  /** `undefined`: the session has no name. */
  by?: string | undefined;
  /** Recognises a repetition of the command. */
  commandId?: string | undefined;
}

/** What a command does, and what a repetition of it is answered with. */
export type Action<T> = (signed: SignedThread) => Promise<T>;
export type Again<T> = (thread: Thread, given: GivenCommand) => Promise<T>;

/** Thrown instead of a decision, because the thread has accepted the command before. */
export class RepeatedCommand extends Error {
  readonly given: GivenCommand;

  constructor(given: GivenCommand) {
    super(`The command was accepted at ${given.seq}.`);
    this.given = given;
  }
}

/**
 * An open thread, for the commands of one person: every event of a command gets the name of the person who gave it. A thread that a newer
 * release has written to takes no command of this one, which does not know what the command would mean there.
 */
export class SignedThread {
  readonly thread: Thread;
  readonly by: string | undefined;
  readonly #commandId: string | undefined;

  constructor(thread: Thread, { by, commandId }: Signature = {}) {
    this.thread = thread;
    this.by = by;
    this.#commandId = commandId;
  }

  /** For what a command has to append before the append that carries it out. */
  get unmarked(): SignedThread {
    return new SignedThread(this.thread, this);
  }

  command<Result>(decide: Decide<Result>): Promise<Result | undefined> {
    return this.thread.command(this.#signed(decide));
  }

  appendAlone(decide: Decide): Promise<boolean> {
    return this.thread.appendAlone(this.#signed(decide));
  }

  /** Runs `work`, or `again` if the thread has accepted the command before: in any process, also one that was killed then. */
  async once<T>(work: Action<T>, again: Again<T>): Promise<T> {
    if (this.#commandId === undefined) return work(this);
    try {
      await this.thread.refresh();
      this.#refuseRepeated(this.thread.state);
      return await work(this);
    } catch (error) {
      if (error instanceof RepeatedCommand) return again(this.thread, error.given);
      throw error;
    }
  }

  #signed<Result>(decide: Decide<Result>): Decide<Result> {
    return (state) => {
      this.#refuseRepeated(state);
      refuseForeign(state.foreign);
      const proposal = decide(state);
      return proposal && { ...proposal, events: this.#marked(proposal) };
    };
  }

  #marked({ events, answer }: Proposal<unknown>): readonly NewEvent[] {
    const id = this.#commandId;
    const signed = events.map((event) => signedBy(this.by, event));
    const [first, ...others] = signed;
    if (!first || id === undefined) return signed;
    const command = answer === undefined ? { id } : { id, answer };
    return [{ ...first, command } as NewEvent, ...others];
  }

  #refuseRepeated({ given }: ThreadState): void {
    const known = given.find(({ id, inherited }) => id === this.#commandId && !inherited);
    if (known) throw new RepeatedCommand(known);
  }
}

/** An event with a `by` of its own keeps it. `stamp` drops the name from events that have no such field. */
export const signedBy = <E extends NewEvent>(by: string | undefined, event: E): E =>
  by === undefined ? event : { by, ...event };
