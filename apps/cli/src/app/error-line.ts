import { CinchError } from "@cinch/core";
import { messageOf } from "../error-message.ts";

/** Why an answer was not accepted, as one line. */
export const errorLine = (error: unknown): string =>
  isAnswered(error) ? "It has been answered already, in another terminal or by a rule." : messageOf(error);

/** Why a queued input could not be changed, as one line. */
export const queuedErrorLine = (error: unknown): string =>
  isAnswered(error) ? "It is not queued any more: a turn took it, or it was removed elsewhere." : messageOf(error);

const isAnswered = (error: unknown): boolean =>
  error instanceof CinchError && (error.code === "ALREADY_ANSWERED" || error.code === "NOT_PENDING");
