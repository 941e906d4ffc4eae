import { refuseForeign } from "../commands/refuse-foreign.ts";
import type { NewEvent } from "../events/event-map.ts";
import type { Decide } from "../turn/decide.ts";
import type { Thread } from "./thread.ts";

/**
 * An open thread, for the commands of one person: every event of a command gets the name of the person who gave it. A thread that a newer
 * release has written to takes no command of this one, which does not know what the command would mean there.
 */
export class SignedThread {
  readonly thread: Thread;
  /** `undefined`: the session has no name. */
  readonly by: string | undefined;

  constructor(thread: Thread, by?: string) {
    this.thread = thread;
    this.by = by;
  }

  command<Result>(decide: Decide<Result>): Promise<Result | undefined> {
    return this.thread.command(this.#signed(decide));
  }

  appendAlone(decide: Decide): Promise<boolean> {
    return this.thread.appendAlone(this.#signed(decide));
  }

  #signed<Result>(decide: Decide<Result>): Decide<Result> {
    const { by } = this;
    return (state) => {
      refuseForeign(state.foreign);
      const proposal = decide(state);
      return proposal && { ...proposal, events: proposal.events.map((event) => signedBy(by, event)) };
    };
  }
}

/** An event with a `by` of its own keeps it. `stamp` drops the name from events that have no such field. */
export const signedBy = <E extends NewEvent>(by: string | undefined, event: E): E =>
  by === undefined ? event : { by, ...event };
