import { toAscii } from "./ascii.ts";
import type { Features } from "./features.ts";
import { colors, type Line, type Style } from "./line.ts";
import { clipped, greatestWidth, isSimple, leastWidth, widthOf } from "./width.ts";

/** Text of one style, by the parameters of its SGR sequence. */
interface Run {
  text: string;
  sgr: string;
}

/** A line as it is written. Before and behind it the style is the default one. */
export class Row {
  readonly #runs: readonly Run[];
  readonly bytes: string;
  /** Most rows are the same as before, and are never measured. */
  #measured: { width: number; least: number; greatest: number; simple: boolean } | undefined;

  constructor(runs: readonly Run[]) {
    this.#runs = runs;
    this.bytes = render(runs);
  }

  /** Without `columns`, the whole line. */
  static of(line: Line, { colors: colored, unicode }: Features, columns = Infinity): Row {
    const runs: Run[] = [];
    let left = columns;
    for (const { text, style } of line.spans) {
      const shown = unicode ? text : toAscii(text);
      const part = left === Infinity ? shown : clipped(shown, left);
      left -= left === Infinity ? 0 : widthOf(part);
      append(runs, { text: part, sgr: style ? sgrOf(style, { colored }) : "" });
      if (part.length < shown.length) break;
    }
    return new Row(runs);
  }

  /** The columns by the standard, and the fewest and most that any terminal takes; `simple` if all of them agree. */
  get measured(): { width: number; least: number; greatest: number; simple: boolean } {
    return (this.#measured ??= measure(this.#runs.map((run) => run.text).join("")));
  }

  equals(other: Row | undefined): boolean {
    return this.bytes === other?.bytes;
  }

  /**
   * Where a row that shows `old` must be written from, and what. All before must take the same columns in every terminal, so a run with
   * any other character is written whole.
   */
  differenceTo(old: Row): { column: number; bytes: string } {
    let column = 0;
    for (const [at, run] of this.#runs.entries()) {
      const before = old.#runs[at];
      const same = before?.sgr === run.sgr ? commonStart(before.text, run.text) : 0;
      column += widthOf(run.text.slice(0, same));
      if (same === run.text.length && same === before?.text.length) continue;
      return { column, bytes: render([{ ...run, text: run.text.slice(same) }, ...this.#runs.slice(at + 1)]) };
    }
    return { column, bytes: "" };
  }

  /** The bytes of the first columns. */
  start(columns: number): { bytes: string; simple: boolean } {
    const runs: Run[] = [];
    let left = columns;
    for (const { text, sgr } of this.#runs) {
      const part = clipped(text, left);
      left -= widthOf(part);
      runs.push({ text: part, sgr });
      if (part.length < text.length) break;
    }
    return { bytes: render(runs), simple: runs.every(({ text }) => isSimple(text)) };
  }
}

function measure(text: string): Row["measured"] {
  const width = widthOf(text);
  if (isSimple(text)) return { width, least: width, greatest: width, simple: true };
  return { width, least: leastWidth(text), greatest: greatestWidth(text), simple: false };
}

function append(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (run.text === "") return;
  if (last?.sgr === run.sgr) last.text += run.text;
  else runs.push(run);
}

function commonStart(a: string, b: string): number {
  if (!isSimple(a) || !isSimple(b)) return 0;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function render(runs: readonly Run[]): string {
  let bytes = "";
  let current = "";
  for (const { text, sgr } of runs) {
    if (text === "") continue;
    if (sgr !== current) bytes += sgr === "" ? "\u001b[m" : `\u001b[${current === "" ? "" : "0;"}${sgr}m`;
    current = sgr;
    bytes += text;
  }
  return current === "" ? bytes : `${bytes}\u001b[m`;
}

const attributes = [
  ["bold", "1"],
  ["dim", "2"],
  ["italic", "3"],
  ["underline", "4"],
  ["inverse", "7"],
] as const;

function sgrOf(style: Style, { colored }: { colored: boolean }): string {
  const parameters: string[] = attributes.filter(([name]) => style[name]).map(([, parameter]) => parameter);
  const color = style.color && colored ? colors.indexOf(style.color) : -1;
  if (color >= 0) parameters.push(String(color < 8 ? 30 + color : 82 + color));
  return parameters.join(";");
}
