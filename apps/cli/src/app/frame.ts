import type { Frame } from "../terminal/frame.ts";
import { line, type Line } from "../terminal/line.ts";
import type { Size } from "../terminal/terminal-port.ts";
import type { PanelView } from "../views/panel.ts";

/** What stands on the screen, from top to bottom. */
export interface FrameParts {
  print: readonly Line[];
  /** What still streams. */
  transcript: readonly Line[];
  activity: readonly Line[];
  agents: readonly Line[];
  tasks: readonly Line[];
  queue: readonly Line[];
  notices: readonly Line[];
  /** A panel, or a list above the composer. */
  panel: PanelView | null;
  composer: PanelView;
  status: readonly Line[];
  /** The cursor is in the panel, not in the composer. */
  panelHasKeys: boolean;
}

type Section = "transcript" | "agents" | "tasks" | "queue" | "notices" | "activity";

/** Which rows a small screen keeps longest. Those of the composer and of a panel are always there. */
const BY_WORTH: readonly (Section | "status" | "rules")[] = [
  "activity",
  "status",
  "notices",
  "rules",
  "queue",
  "agents",
  "tasks",
  "transcript",
];

/** A small screen loses rules, then notices, then the status line; what streams is shown by its end. */
export function composeFrame(parts: FrameParts, { columns, rows }: Size): Frame {
  const rule = line("─".repeat(Math.max(0, columns - 1)), { dim: true });
  const panel = parts.panel?.lines ?? [];
  let left = Math.max(1, rows - 1) - parts.composer.lines.length - panel.length;
  const kept: Partial<Record<Section | "status" | "rules", readonly Line[]>> = {};
  for (const name of BY_WORTH) {
    const wanted = name === "rules" ? [rule, rule] : parts[name];
    kept[name] = name === "status" || name === "rules" ? whole(wanted, left) : clippedTo(name, wanted, left);
    left -= kept[name].length;
  }
  const above = (["transcript", "activity", "agents", "tasks", "queue", "notices"] as const).flatMap(
    (name) => kept[name]!,
  );
  const [upper = [], lower = []] = kept.rules!.map((one) => [one]);
  const live = [...above, ...panel, ...upper, ...parts.composer.lines, ...lower, ...kept.status!];
  const cursorInPanel = parts.panelHasKeys ? parts.panel?.cursor : undefined;
  if (cursorInPanel) return { print: parts.print, live, cursor: below(cursorInPanel, above.length) };
  const top = above.length + panel.length + upper.length;
  return { print: parts.print, live, cursor: parts.composer.cursor && below(parts.composer.cursor, top) };
}

const below = ({ row, column }: { row: number; column: number }, rows: number) => ({ row: row + rows, column });

const whole = (lines: readonly Line[], room: number): readonly Line[] => (lines.length <= room ? lines : []);

/** What does not fit is counted in one line. */
function clippedTo(name: Section, lines: readonly Line[], room: number): readonly Line[] {
  if (lines.length <= room) return lines;
  if (room <= 0) return [];
  const shown = room - 1;
  const count = line(`… ${lines.length - shown} more lines`, { dim: true });
  if (name === "transcript") return [count, ...lines.slice(lines.length - shown)];
  return [...lines.slice(0, shown), count];
}
