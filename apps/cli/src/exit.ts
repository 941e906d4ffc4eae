import type { EndReason } from "@cinch/core";

/** What a script learns from how `cinch` ends. `--help` prints them. */
export const Exit = {
  complete: 0,
  error: 1,
  /** What was asked for can't be started; nothing was written. */
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
      return Exit.complete;
    case "error":
    case "declined":
      return Exit.error;
    case "max_steps":
    case "budget":
      return Exit.limit;
    case "aborted":
      return Exit.aborted;
  }
}

/** The command line, or what it refers to, is wrong. The message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
