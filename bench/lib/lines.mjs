/** The lines of a row. */
import { show } from "./numbers.mjs";

export const line = (measured, target, ok) => ({ measured, target, ok });

export const atMost = (value, limit, unit, what = "") =>
  line(`${what}${show(value)}${unit}`, `${what}at most ${show(limit)}${unit}`, value <= limit);
