import { CinchError } from "@cinch/core";
import { messageOf } from "../error-message.ts";

/** An error of a command of the session, as one line for the user. */
export function errorLine(error: unknown): string {
  if (!(error instanceof CinchError)) return messageOf(error);
  switch (error.code) {
    case "ALREADY_ANSWERED":
    case "NOT_PENDING":
      return "It has been answered already, in another terminal or by a rule.";
    case "STORE_FULL":
      return `${error.message} Your text is kept: free some space, then send it again.`;
    case "STORE_BUSY":
      return `${error.message} Your text is kept: send it again.`;
    default:
      return error.message;
  }
}
