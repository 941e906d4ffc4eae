import { CinchError } from "../errors.ts";

/** Throws `STORE_NEWER` for a thread that a newer release has written to: such a thread can be read, but not changed. */
export function refuseForeign(foreign: { type: string; v: number; seq: number } | null): void {
  if (!foreign) return;
  const { type, v, seq } = foreign;
  throw new CinchError(
    "STORE_NEWER",
    `Event ${seq} of this thread ("${type}", version ${v}) was written by a newer Cinch. Upgrade Cinch to continue it.`,
  );
}
