import { CinchError, durableTypes } from "@cinch/core";

export const positions = ["before", "inside", "after", "emitted"] as const;

export interface CrashPoint {
  type: string;
  position: (typeof positions)[number];
  nth: number;
}

/** Reads `EVENT:POSITION[:N]`. Throws `INVALID_CONFIG` with what there is: a point that is never reached would prove nothing. */
export function crashPointOf(text: string): CrashPoint {
  const [type = "", position = "", nth = "1", ...rest] = text.split(":");
  const at = positions.find((one) => one === position);
  const isKnown = (durableTypes as string[]).includes(type) && at && /^[1-9]\d*$/.test(nth) && rest.length === 0;
  if (isKnown) return { type, position: at, nth: Number(nth) };
  throw new CinchError(
    "INVALID_CONFIG",
    `CRASH_AT=${text} is no crash point. Write EVENT:POSITION or EVENT:POSITION:N, with N from 1, one of the positions ${positions.join(
      ", ",
    )} and one of the events ${durableTypes.join(", ")}.`,
  );
}
