import { line, type Line } from "./line.ts";
import type { Size } from "./terminal-port.ts";

/** What a terminal shows: `print` is printed once and then belongs to the terminal, `live` stands below and is drawn again. */
export interface Frame {
  print: readonly Line[];
  live: readonly Line[];
  /** In `live`. Without it the cursor is hidden. */
  cursor: { row: number; column: number } | null;
}

type Live = Omit<Frame, "print">;

/** At most one row less than the screen has. What does not fit is counted in one line; the row of the cursor is kept. */
export function fitted({ live, cursor }: Live, size: Size): Live {
  const most = Math.max(1, size.rows - 1);
  const at = cursor && { row: within(cursor.row, live.length), column: within(cursor.column, size.columns) };
  if (live.length <= most) return { live, cursor: at };
  const counted = most > 1;
  const kept = counted ? most - 1 : 1;
  const from = Math.min(live.length - kept, at?.row ?? Infinity);
  const shown = live.slice(from, from + kept);
  if (counted) shown.unshift(line(`… ${live.length - kept} more lines`, { dim: true }));
  return { live: shown, cursor: at && { ...at, row: at.row - from + (counted ? 1 : 0) } };
}

const within = (index: number, length: number): number => Math.max(0, Math.min(index, length - 1));
