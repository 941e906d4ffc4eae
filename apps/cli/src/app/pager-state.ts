import type { KeyEvent } from "../terminal/keys.ts";
import { line, text, type Line } from "../terminal/line.ts";
import type { Size } from "../terminal/terminal-port.ts";
import { clippedLine, titleLine } from "../views/panel-layout.ts";
import { fieldAfter, fieldRow, fieldText, textField, type TextField } from "../views/text-field.ts";
import { indexOfQuery, plainLine, pagerRows, rowOfQuery, type TextPlace } from "./pager-text.ts";

/** What a pager shows: the lines that are loaded, from one of them on. A value: each event makes the next one. */
export interface PagerState {
  title: string;
  size: Size;
  /** Oldest first. */
  lines: readonly Line[];
  /** The first line is loaded. */
  isWhole: boolean;
  top: TextPlace;
  /** The last row is shown, and stays so when lines come or the screen changes. */
  atEnd: boolean;
  /** Where a search goes first: up in what opens at its end. */
  forward: boolean;
  /** What needs lines that are not loaded: the beginning, or the next match above. */
  goal: "start" | "match" | null;
  query: string;
  /** The line of the last match. */
  match: number | null;
  /** The text that is being searched for, while it is typed. */
  typing: TextField | null;
  notice: string;
}

export type PagerEvent =
  | { type: "keys"; event: KeyEvent }
  /** `null`: there are no older ones. */
  | { type: "older"; lines: readonly Line[] | null }
  | { type: "failed"; problem: string };

/** Lines above the screen that are loaded before they are needed. */
const AHEAD = 200;

export const pagerState = (options: { title: string; from: "start" | "end" }): PagerState => ({
  title: options.title,
  size: { columns: 80, rows: 24 },
  lines: [],
  isWhole: false,
  top: { line: 0, row: 0 },
  atEnd: options.from === "end",
  forward: options.from === "start",
  goal: null,
  query: "",
  match: null,
  typing: null,
  notice: "",
});

/** Whether older lines have to be loaded. */
export const pagerWantsOlder = ({ isWhole, goal, top, lines }: PagerState): boolean =>
  !isWhole && (goal !== null || top.line < AHEAD || lines.length === 0);

/** `null`: the user closed the pager. */
export function pagerAfter(state: PagerState, event: PagerEvent): PagerState | null {
  switch (event.type) {
    case "keys":
      return state.typing ? searchTyped(state, state.typing, event.event) : pressed(state, event.event);
    case "older":
      return reached(event.lines ? withOlder(state, event.lines) : { ...state, isWhole: true });
    case "failed":
      return { ...state, isWhole: true, goal: null, notice: event.problem };
  }
}

export function pagerResized(state: PagerState, size: Size): PagerState {
  if (size.columns === state.size.columns && size.rows === state.size.rows) return state;
  return settled({ ...state, size });
}

function withOlder(state: PagerState, older: readonly Line[]): PagerState {
  const { top, match } = state;
  const isFirst = state.lines.length === 0;
  return settled({
    ...state,
    lines: [...older, ...state.lines],
    top: isFirst ? top : { ...top, line: top.line + older.length },
    match: match === null ? null : match + older.length,
  });
}

/** Goes on with what waited for older lines. */
function reached(state: PagerState): PagerState {
  if (state.goal === "start" && state.isWhole) return atStart({ ...state, goal: null });
  if (state.goal !== "match") return state;
  return searched(state, { up: true });
}

const atStart = (state: PagerState): PagerState => ({ ...state, top: { line: 0, row: 0 }, atEnd: false });

const contentRows = ({ size }: PagerState): number => Math.max(1, size.rows - 2);
const rowsAt = (state: PagerState, at: number): readonly Line[] =>
  pagerRows(state.lines[at]!, { width: state.size.columns, query: state.query });

/** The place so many rows further, or as far as there are lines. */
function moved(state: PagerState, from: TextPlace, rows: number): TextPlace {
  let { line: at, row } = from;
  let left = Math.abs(rows);
  while (left > 0 && state.lines.length > 0) {
    const inLine = rows < 0 ? row : rowsAt(state, at).length - 1 - row;
    const step = Math.min(left, inLine);
    row += rows < 0 ? -step : step;
    left -= step;
    const next = at + (rows < 0 ? -1 : 1);
    if (left === 0 || next < 0 || next >= state.lines.length) break;
    at = next;
    row = rows < 0 ? rowsAt(state, at).length - 1 : 0;
    left--;
  }
  return { line: at, row };
}

/** The first place from which the last row is on the screen. */
function lastTop(state: PagerState): TextPlace {
  const last = state.lines.length - 1;
  if (last < 0) return { line: 0, row: 0 };
  return moved(state, { line: last, row: rowsAt(state, last).length - 1 }, 1 - contentRows(state));
}

const isBehind = (a: TextPlace, b: TextPlace): boolean => a.line > b.line || (a.line === b.line && a.row >= b.row);

/** The top is never so far down that the screen is not full. */
function settled(state: PagerState): PagerState {
  if (state.lines.length === 0) return state;
  const last = lastTop(state);
  if (state.atEnd || isBehind(state.top, last)) return { ...state, top: last, atEnd: true };
  const rows = rowsAt(state, state.top.line).length;
  return { ...state, top: { ...state.top, row: Math.min(state.top.row, rows - 1) } };
}

const scrolled = (state: PagerState, rows: number): PagerState =>
  settled({ ...state, notice: "", goal: null, atEnd: false, top: moved(state, state.top, rows) });

/** Rows by key; a page leaves one row of the last one. */
function scrollOf(key: string, page: number): number | undefined {
  const half = Math.max(1, Math.floor(page / 2));
  const rows: Record<string, number> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    enter: 1,
    pageup: -page,
    b: -page,
    "ctrl-b": -page,
    pagedown: page,
    " ": page,
    f: page,
    "ctrl-f": page,
    u: -half,
    "ctrl-u": -half,
    d: half,
    "ctrl-d": half,
  };
  return Object.hasOwn(rows, key) ? rows[key] : undefined;
}

function pressed(state: PagerState, event: KeyEvent): PagerState | null {
  if (event.type !== "key" && event.type !== "text") return state;
  const key = event.type === "key" ? event.key : event.text;
  const rows = scrollOf(key, Math.max(1, contentRows(state) - 1));
  if (rows !== undefined) return scrolled(state, rows);
  switch (key) {
    case "q":
    case "escape":
    case "ctrl-c":
      return null;
    case "g":
    case "home":
      return reached({ ...atStart({ ...state, notice: "" }), goal: "start" });
    case "G":
    case "end":
      return settled({ ...state, notice: "", goal: null, atEnd: true });
    case "/":
      return { ...state, typing: textField(), notice: "", goal: null };
    case "n":
      return searched(state, { up: !state.forward });
    case "N":
      return searched(state, { up: state.forward });
    default:
      return state;
  }
}

function searchTyped(state: PagerState, typing: TextField, event: KeyEvent): PagerState {
  if (event.type === "key" && (event.key === "escape" || event.key === "ctrl-c")) return { ...state, typing: null };
  if (event.type === "key" && event.key === "enter") {
    const query = fieldText(typing) === "" ? state.query : fieldText(typing);
    return searched({ ...state, typing: null, query, match: null }, { up: !state.forward });
  }
  return { ...state, typing: fieldAfter(typing, event) ?? typing };
}

/** The next line that matches. Above the loaded lines the search goes on when they are loaded. */
function searched(state: PagerState, { up }: { up: boolean }): PagerState {
  const { query, lines } = state;
  if (query === "") return { ...state, goal: null };
  const from = state.match ?? (up ? lastShown(state) + 1 : state.top.line - 1);
  const at = up ? matchAbove(lines, from, query) : matchBelow(lines, from, query);
  if (at !== -1) return settled(shownMatch({ ...state, goal: null, notice: "" }, at));
  if (up && !state.isWhole) return { ...state, match: Math.min(from, 0), goal: "match" };
  return { ...state, goal: null, notice: `not found: ${query}` };
}

function shownMatch(state: PagerState, at: number): PagerState {
  const row = rowOfQuery(state.lines[at]!, { width: state.size.columns, query: state.query });
  return { ...state, match: at, atEnd: false, top: { line: at, row } };
}

const matchAbove = (lines: readonly Line[], from: number, query: string): number => {
  for (let at = Math.min(from, lines.length) - 1; at >= 0; at--)
    if (indexOfQuery(plainLine(lines[at]!), query) !== -1) return at;
  return -1;
};

const matchBelow = (lines: readonly Line[], from: number, query: string): number =>
  lines.findIndex((one, at) => at > from && indexOfQuery(plainLine(one), query) !== -1);

const lastShown = (state: PagerState): number => moved(state, state.top, contentRows(state) - 1).line;

/** The rows of the screen, the last one for the place and the keys. */
export function pagerView(state: PagerState): { lines: Line[]; cursor: { row: number; column: number } | null } {
  const { size, typing } = state;
  const room = contentRows(state);
  const rows: Line[] = [];
  for (let at = state.top.line; at < state.lines.length && rows.length < room; at++)
    rows.push(...rowsAt(state, at).slice(at === state.top.line ? state.top.row : 0));
  const shown = [...rows.slice(0, room), ...Array.from({ length: Math.max(0, room - rows.length) }, () => line(""))];
  if (size.rows < 3 && !typing) return { lines: shown, cursor: null };
  if (!typing) return { lines: [...shown, statusLine(state)], cursor: null };
  const field = fieldRow(typing, size.columns, "/");
  const above = size.rows < 3 ? [] : shown;
  return { lines: [...above, field.line], cursor: { row: above.length, column: field.column } };
}

const KEYS = "/ n N search · g G · q closes";

function statusLine(state: PagerState): Line {
  const { size, title, notice } = state;
  const place = notice === "" ? placeText(state) : notice;
  const { spans } = clippedLine(titleLine(`${text(title)} · ${place}`, KEYS, { width: size.columns }), size.columns);
  return { spans: spans.map((span) => ({ ...span, style: { inverse: true } })), wrap: "none" };
}

function placeText(state: PagerState): string {
  const { lines, isWhole, goal, top, atEnd } = state;
  if (goal === "match") return `searching for ${state.query} …`;
  if (lines.length === 0 && !isWhole) return "loading …";
  if (goal === "start") return `loading … ${lines.length} lines`;
  if (atEnd) return isWhole && top.line === 0 && top.row === 0 ? "all" : "end";
  return isWhole ? `${Math.floor((100 * top.line) / lines.length)} %` : `${lines.length - top.line} lines from the end`;
}
