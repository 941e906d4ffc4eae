import type xterm from "@xterm/headless";

/** What a terminal shows at one moment, and for how long. */
export interface ScreenShot {
  rows: readonly (readonly Run[])[];
  cursor: { row: number; column: number };
  ms: number;
}

/** Cells of one row that look alike. */
export interface Run {
  text: string;
  column: number;
  width: number;
  /** Of the terminal's 16 colours; `null`: its own. */
  color: number | null;
  bold: boolean;
  dim: boolean;
  inverse: boolean;
  italic: boolean;
}

type Style = Omit<Run, "text" | "column" | "width">;

export function screenShot({ buffer, rows, cols }: xterm.Terminal, ms: number): ScreenShot {
  const { active } = buffer;
  const lines = Array.from({ length: rows }, (_, row) => runsOf(active.getLine(active.viewportY + row), cols));
  return { rows: lines, cursor: { row: active.cursorY, column: active.cursorX }, ms };
}

function runsOf(line: xterm.IBufferLine | undefined, columns: number): Run[] {
  const runs: Run[] = [];
  if (!line) return runs;
  for (let column = 0; column < columns; column++) {
    const cell = line.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const style = styleOf(cell);
    const text = cell.getChars() || " ";
    const last = runs.at(-1);
    if (last && last.column + last.width === column && looksAlike(last, style)) {
      last.text += text;
      last.width += cell.getWidth();
    } else runs.push({ text, column, width: cell.getWidth(), ...style });
  }
  return runs.filter(({ text, inverse }) => inverse || text.trim() !== "");
}

const styleOf = (cell: xterm.IBufferCell): Style => ({
  color: cell.isFgPalette() ? cell.getFgColor() : null,
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0,
  inverse: cell.isInverse() !== 0,
  italic: cell.isItalic() !== 0,
});

const looksAlike = (a: Style, b: Style): boolean =>
  a.color === b.color && a.bold === b.bold && a.dim === b.dim && a.inverse === b.inverse && a.italic === b.italic;
