import type { Decide } from "../turn/decide.ts";

/** What a command decided, or why it was refused. */
export type CommandOutcome<Result> = { value: Result | undefined } | { refusal: unknown };

/** A refusal as a value, so that it is told apart from a failure of the store, after which the events may be there all the same. */
export const asOutcome =
  <Result>(decide: Decide<Result>): Decide<CommandOutcome<Result>> =>
  (state) => {
    try {
      const proposal = decide(state);
      return proposal && { ...proposal, result: { value: proposal.result } };
    } catch (refusal) {
      return { events: [], result: { refusal } };
    }
  };
