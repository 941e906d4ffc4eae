import { CinchError } from "../errors.ts";
import type { ThreadState } from "../folds/state.ts";

/** Throws `STORE_NEWER` for a thread that a newer release has written to: such a thread can be read, but not changed. */
export function refuseForeign(foreign: ThreadState["foreign"]): void {
  if (foreign) throw newerError(foreign);
}

export const newerError = ({ type, v, seq }: NonNullable<ThreadState["foreign"]>): CinchError =>
  new CinchError(
    "STORE_NEWER",
    `Event ${seq} of this thread ("${type}", version ${v}) was written by a newer Cinch. Upgrade Cinch to continue it.`,
  );
