import type { Decide } from "../turn/decide.ts";

/** The result of a command, or the error that refuses it. */
export type CommandOutcome<Result> = { value: Result | undefined } | { refusal: unknown };

/** Returns a refusal as a value, to distinguish it from a failure of the store, after which the events may have been written. */
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
