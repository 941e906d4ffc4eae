import type { EndReason } from "@cinch/core";

/** Exit codes. `--help` explains them. */
export const ExitCode = {
  complete: 0,
  error: 1,
  /** The command can't be started, and nothing was written. */
  usage: 2,
  waiting: 3,
  limit: 4,
  aborted: 130,
  hangup: 129,
  pipeClosed: 141,
  terminated: 143,
} as const;

export function exitOf(reason: EndReason): number {
  switch (reason) {
    case "complete":
      return ExitCode.complete;
    case "error":
    case "declined":
      return ExitCode.error;
    case "max_steps":
    case "budget":
      return ExitCode.limit;
    case "aborted":
      return ExitCode.aborted;
  }
}

/** The command line is wrong, or refers to something that does not exist. The message says what to type. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
