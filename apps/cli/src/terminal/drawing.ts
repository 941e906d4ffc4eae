import type { Features } from "./features.ts";
import { fitted, type Frame } from "./frame.ts";
import { Row } from "./row.ts";
import type { Size } from "./terminal-port.ts";

const EMPTY = new Row([]);
/** An insertion costs about so many bytes. */
const INSERTION_COST = 24;

/**
 * The live rows as the terminal shows them, and the bytes that lead to the next frame. All moves are relative, because the place of the
 * rows on the screen is not known.
 */
export class Drawing {
  readonly #features: Features;
  #size: Size | null = null;
  /** The rows on the terminal. There is always one, where the cursor stands. */
  #rows: Row[] = [EMPTY];
  /** The row of the cursor. Its column is only known where a frame ended. */
  #at = 0;
  #column: number | null = null;
  #cursor: Frame["cursor"] = null;
  #cursorShown = true;
  #out = "";

  constructor(features: Features) {
    this.#features = features;
  }

  /** Nothing, if the terminal shows this frame. */
  next({ print, live, cursor }: Frame, size: Size): string {
    this.#out = "";
    if (size.columns !== this.#size?.columns || size.rows !== this.#size.rows) this.#restart(size);
    const shown = fitted({ live, cursor }, size);
    const rows = shown.live.map((one) => Row.of(one, this.#features, size.columns - 1));
    if (rows.length === 0) rows.push(EMPTY);
    const printed = print.map((one) => Row.of(one, this.#features));
    const fits = printed.every(({ measured }) => measured.greatest < size.columns);
    if (!fits) this.#printWhole(printed.splice(0));
    this.#replace([...printed, ...rows], size);
    this.#rows = rows;
    this.#at -= printed.length;
    this.#place(shown.cursor);
    return this.#out;
  }

  /** Erases the live rows, and expects that another program writes. The cursor is where the next line is to be printed. */
  erase(): string {
    this.#out = "";
    this.#clear();
    this.#showCursor(true);
    this.resized();
    return this.#out;
  }

  /** The next frame writes all live rows. Even if the size is the same again, the terminal may have cut some. */
  resized(): void {
    this.#size = null;
  }

  /** Another program has written: the live rows are not where they were, and stay behind. */
  forget(): void {
    this.#rows = [EMPTY];
    this.#at = 0;
    this.resized();
  }

  /** The rows above the cursor take as many rows more as the terminal has broken them. */
  #restart(size: Size): void {
    const above = this.#rows.slice(0, this.#at);
    this.#column = null;
    this.#at = above.reduce((sum, row) => sum + this.#rowsOf(row, size), 0);
    this.#size = { ...size };
    this.#clear();
  }

  /** The fewest, because a stale row is better than a printed line that is erased. */
  #rowsOf({ measured }: Row, { columns }: Size): number {
    return this.#features.reflow ? Math.max(1, Math.ceil(measured.least / columns)) : 1;
  }

  /** Not from the first column: what is erased from there in the first row of the screen, tmux saves in its scrollback. */
  #clear(): void {
    this.#go(0, 1);
    this.#out += "\u001b[J\r\u001b[K";
    this.#column = 0;
    this.#rows = [EMPTY];
  }

  /** The terminal breaks lines that are longer than a row, so that they are copied whole. */
  #printWhole(printed: readonly Row[]): void {
    this.#clear();
    for (const { bytes } of printed) this.#out += `${bytes}\r\n`;
  }

  #replace(next: readonly Row[], size: Size): void {
    this.#shift(next, size);
    for (const [at, row] of next.entries()) this.#write(at, row);
    if (next.length >= this.#rows.length) return;
    this.#go(next.length, 0);
    this.#out += "\u001b[J";
    this.#rows.length = next.length;
  }

  #write(at: number, row: Row): void {
    const old = this.#rows[at];
    if (row.equals(old)) return;
    const { column, bytes } = row.differenceTo(old ?? EMPTY);
    this.#go(at, column);
    if (old && mayStandOut(old, row)) this.#out += "\u001b[K";
    this.#rows[at] = row;
    this.#put(bytes, row);
  }

  /** A terminal may take more columns for an emoji than the standard says, and must not break the row. */
  #put(bytes: string, { measured }: Row): void {
    this.#out += measured.greatest < this.#size!.columns ? bytes : `\u001b[?7l${bytes}\u001b[?7h`;
    this.#column = null;
  }

  /** Inserts or deletes rows where most of the others stay as they are. */
  #shift(next: readonly Row[], { rows }: Size): void {
    const old = this.#rows;
    const more = next.length - old.length;
    // A live row that left the screen at its top would be in the scrollback.
    if (more === 0 || old.length + more > rows) return;
    const { at, gain } = bestShift(old, next);
    if (gain < INSERTION_COST) return;
    if (more > 0) {
      this.#go(next.length - 1, 0);
      this.#go(at, 0);
      this.#out += `\u001b[${count(more)}L`;
      this.#rows = [...old.slice(0, at), ...next.slice(0, more).map(() => EMPTY), ...old.slice(at, next.length - more)];
    } else {
      this.#go(at, 0);
      this.#out += `\u001b[${count(-more)}M`;
      this.#rows = old.toSpliced(at, -more);
    }
  }

  /** A row below the last one is made by a line feed, which scrolls where it must. */
  #go(row: number, column: number): void {
    if (row === this.#at && column === this.#column) return;
    const last = Math.max(this.#rows.length - 1, this.#at);
    const reached = Math.min(row, last);
    if (reached < this.#at) this.#out += `\u001b[${count(this.#at - reached)}A`;
    if (reached > this.#at) this.#out += `\u001b[${count(reached - this.#at)}B`;
    for (let made = reached; made < row; made++) {
      this.#out += "\r\n";
      this.#rows[made + 1] = EMPTY;
    }
    if (row > reached) this.#column = 0;
    if (column !== this.#column) this.#out += column === 0 ? "\r" : `\u001b[${column + 1}G`;
    this.#at = row;
    this.#column = column;
  }

  #place(cursor: Frame["cursor"]): void {
    const still = this.#out === "" && cursor?.row === this.#cursor?.row && cursor?.column === this.#cursor?.column;
    if (still) return;
    this.#cursor = cursor;
    this.#showCursor(cursor !== null);
    // At the start of a row, the cursor stays in that row when the terminal breaks it.
    if (!cursor) return this.#go(this.#rows.length - 1, 0);
    const row = this.#rows[cursor.row]!;
    const { bytes, simple } = row.start(cursor.column);
    if (simple) return this.#go(cursor.row, cursor.column);
    // Terminals disagree on the width of these characters: where writing them leads to is right for each.
    this.#go(cursor.row, 0);
    this.#put(bytes, row);
  }

  #showCursor(shown: boolean): void {
    if (shown !== this.#cursorShown) this.#out += shown ? "\u001b[?25h" : "\u001b[?25l";
    this.#cursorShown = shown;
  }
}

const count = (rows: number): string => (rows === 1 ? "" : String(rows));

/** A part of the old row may be seen behind the new one. */
const mayStandOut = ({ measured: old }: Row, { measured: row }: Row): boolean =>
  old.width > row.width || !old.simple || !row.simple;

/** Where to insert or delete, so that most bytes need not be written again, compared with no shift. */
function bestShift(old: readonly Row[], next: readonly Row[]): { at: number; gain: number } {
  const more = next.length - old.length;
  const equalAt = (row: Row | undefined, at: number) => (row?.equals(old[at]) ? row.bytes.length : 0);
  const last = Math.min(old.length, next.length);
  let before = 0;
  let behind = 0;
  for (let at = 0; at < last; at++) {
    before += equalAt(next[at], at);
    behind += equalAt(next[next.length - 1 - at], old.length - 1 - at);
  }
  const unshifted = before;
  let best = { at: last, gain: 0 };
  let kept = behind;
  for (let at = 0; at <= last; at++) {
    if (kept - unshifted > best.gain) best = { at, gain: kept - unshifted };
    kept += equalAt(next[at], at) - equalAt(next[at + Math.max(more, 0)], at + Math.max(-more, 0));
  }
  return best;
}
