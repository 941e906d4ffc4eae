import type { PickItem, PickList } from "../app/commands/command.ts";
import { matchScore } from "../composer/completion.ts";
import type { KeyEvent } from "../terminal/keys.ts";
import { line, text, type Line, type Span } from "../terminal/line.ts";
import { clipped, widthOf } from "../terminal/width.ts";
import { CHOICE_MARK } from "./choices.ts";
import { clippedLine, laidOut, titleLine } from "./panel-layout.ts";
import type { Panel, PanelContext, PanelInLines, PanelStep, PanelView } from "./panel.ts";
import { fieldAfter, fieldRow, fieldText, textField, type TextField } from "./text-field.ts";

export interface PickerState<T> {
  list: PickList<T>;
  query: TextField;
  /** What fits the query, best first. */
  items: readonly PickItem<T>[];
  marked: number;
  /** The index of the way, if the list has ways. */
  way: number;
  /** What `list.search` has loaded for a query. */
  found: { query: string; items: readonly PickItem<T>[] } | null;
  preview: { key: PreviewKey<T>; lines: readonly Line[] } | null;
  /** In lines of text, where nothing is marked: the user has taken the item and is shown what it would do. */
  taken: boolean;
}

export interface PreviewKey<T> {
  item: PickItem<T>;
  way: number;
}

export interface PickerWants<T> {
  search: string | null;
  /** The item as `list.preview` gets it, and what the answer is for. */
  preview: { key: PreviewKey<T>; item: PickItem<T> } | null;
}

/** `undefined`: the user closed the list. */
export type PickerChoice<T> = { value: T | undefined };

const PAGE = 10;

export const pickerState = <T>(list: PickList<T>): PickerState<T> => ({
  list,
  query: textField(),
  items: list.items,
  marked: 0,
  way: 0,
  found: null,
  preview: null,
  taken: false,
});

/** A list that is searched by typing. */
export const pickerPanel = <T>(): Panel<PickerState<T>, PickerChoice<T>> => ({ reduce, view, inLines });

type PickerStep<T> = PanelStep<PickerState<T>, PickerChoice<T>>;

function inLines<T>(state: PickerState<T>): PanelInLines<PickerStep<T>> {
  const { list, items, taken } = state;
  if (taken) return takenInLines(state);
  const asksMore = list.preview !== undefined || list.ways !== undefined;
  const take = (marked: number): PickerStep<T> => {
    const at = { ...state, marked };
    return asksMore ? { kind: "state", state: { ...at, taken: true } } : chosen(at);
  };
  const typed = (query: string): PickerStep<T> => ({
    kind: "state",
    state: searched({ ...state, query: textField({ initial: query.trim() }) }),
  });
  return {
    lines: [line(list.title), ...(items.length === 0 ? [line("Nothing fits.")] : [])],
    choices: items.map(({ label, details = [] }, index) => ({
      label: [label, ...details].map((cell) => text(cell)).join("  "),
      step: take(index),
    })),
    typed: { prompt: "words to search for", step: typed },
    empty: { label: "closes", step: { kind: "choice", choice: { value: undefined } } },
  };
}

/** What the item would do, and in which ways. */
function takenInLines<T>(state: PickerState<T>): PanelInLines<PickerStep<T>> {
  const { list, items, marked, preview } = state;
  const ways = list.ways ?? [{ key: "y", label: "yes" }];
  return {
    lines: [line(items[marked]!.label), ...(preview?.lines ?? [])],
    choices: ways.map(({ key, label }, way) => ({ letter: key, label, step: chosen({ ...state, way }) })),
    empty: { label: "goes back", step: { kind: "state", state: { ...state, taken: false } } },
  };
}

function reduce<T>(state: PickerState<T>, event: KeyEvent): PanelStep<PickerState<T>, PickerChoice<T>> {
  const moved = movedBy(event);
  if (moved !== undefined) return { kind: "state", state: withMark(state, state.marked + moved) };
  if (event.type === "key" && event.key === "enter") return chosen(state);
  if (event.type === "key" && event.key === "escape") return { kind: "choice", choice: { value: undefined } };
  const way = wayOf(state, event);
  if (way !== undefined) return { kind: "state", state: { ...state, way } };
  const query = fieldAfter(state.query, event);
  if (!query) return { kind: "ignored" };
  return { kind: "state", state: searched({ ...state, query }) };
}

const MOVES: Record<string, number> = {
  up: -1,
  down: 1,
  "ctrl-p": -1,
  "ctrl-n": 1,
  pageup: -PAGE,
  pagedown: PAGE,
  "ctrl-home": -Infinity,
  "ctrl-end": Infinity,
};

const movedBy = (event: KeyEvent): number | undefined =>
  event.type === "key" && Object.hasOwn(MOVES, event.key) ? MOVES[event.key] : undefined;

const withMark = <T>(state: PickerState<T>, marked: number): PickerState<T> => ({
  ...state,
  marked: Math.max(0, Math.min(marked, state.items.length - 1)),
});

/** Only while nothing is typed, and it chooses nothing: a letter of a search must not act. */
function wayOf<T>({ list, query }: PickerState<T>, event: KeyEvent): number | undefined {
  if (event.type !== "text" || fieldText(query) !== "") return undefined;
  const at = list.ways?.findIndex(({ key }) => key === event.text) ?? -1;
  return at === -1 ? undefined : at;
}

function chosen<T>(state: PickerState<T>): PanelStep<PickerState<T>, PickerChoice<T>> {
  const item = state.items[state.marked];
  if (!item) return { kind: "state", state };
  return { kind: "choice", choice: { value: inWay(state, item).value } };
}

const inWay = <T>({ list, way }: PickerState<T>, item: PickItem<T>): PickItem<T> => {
  const chosenWay = list.ways?.[way];
  return chosenWay ? { ...item, value: chosenWay.value(item.value) } : item;
};

function searched<T>(state: PickerState<T>): PickerState<T> {
  const query = queryOf(state);
  const found = state.found?.query === query ? state.found.items : null;
  // What fits by its name is shown before the search is done, and stays where it is.
  const items = [...new Set([...matching(query, found ?? state.list.items), ...(found ?? [])])];
  return { ...state, items, marked: 0 };
}

const queryOf = <T>({ query }: PickerState<T>): string => fieldText(query).trim();

function matching<T>(query: string, items: readonly PickItem<T>[]): readonly PickItem<T>[] {
  if (query === "") return items;
  const wanted = query.toLowerCase();
  return items
    .flatMap((item) => {
      const score = matchScore(wanted, item.label) ?? matchScore(wanted, (item.details ?? []).join(" "));
      return score === undefined ? [] : [{ item, score }];
    })
    .toSorted((a, b) => b.score - a.score)
    .map(({ item }) => item);
}

/** What the app has to load for a state: the items for a query, and the preview of an item. */
export function pickerWants<T>(state: PickerState<T>): PickerWants<T> {
  const query = queryOf(state);
  const search = state.list.search && query !== "" && state.found?.query !== query ? query : null;
  const item = state.items[state.marked];
  if (!state.list.preview || !item || isPreviewed(state, item)) return { search, preview: null };
  return { search, preview: { key: { item, way: state.way }, item: inWay(state, item) } };
}

const isPreviewed = <T>({ preview, way }: PickerState<T>, item: PickItem<T>): boolean =>
  preview?.key.way === way && preview.key.item === item;

/** What was found. An answer to an earlier query changes nothing. */
export function pickerFound<T>(
  state: PickerState<T>,
  found: { query: string; items: readonly PickItem<T>[] },
): PickerState<T> {
  if (found.query !== queryOf(state)) return state;
  const marked = state.items[state.marked]?.value;
  const next = searched({ ...state, found });
  // The mark stays where the user put it, if the item is still there.
  return withMark(
    next,
    state.marked === 0
      ? 0
      : Math.max(
          0,
          next.items.findIndex(({ value }) => value === marked),
        ),
  );
}

export const pickerPreviewed = <T>(state: PickerState<T>, preview: PickerState<T>["preview"]): PickerState<T> => ({
  ...state,
  preview,
});

function view<T>(state: PickerState<T>, context: PanelContext): PanelView {
  const { items, marked, list, query, preview } = state;
  const field = fieldRow(query, context.width);
  const hasField = !list.ways || fieldText(query) !== "";
  const title = [
    titleLine(list.title, hintOf(state), context),
    ...waysLine(state, context),
    ...(hasField ? [field.line] : []),
  ];
  const item = items[marked];
  const isCurrent = preview && item && isPreviewed(state, item);
  const below = isCurrent ? preview.lines.slice(0, Math.floor(context.rows / 3)) : [];
  const rows = Math.max(1, context.rows - below.length);
  const { lines } = laidOut({ title, ...itemRows(state, context) }, { ...context, rows });
  const hasCursor = context.active && hasField && rows > title.length;
  return {
    lines: [...lines, ...below.map((row) => clippedLine(row, context.width))],
    cursor: hasCursor ? { row: title.length - 1, column: field.column } : null,
  };
}

/** The items around the marked one: more than fit are not drawn. */
function itemRows<T>({ items, marked }: PickerState<T>, context: PanelContext): { body: Line[]; at: number } {
  if (items.length === 0) return { body: [line("Nothing fits.", { dim: true })], at: 0 };
  const columns = columnsOf(items, context.width);
  const from = Math.max(0, marked - context.rows);
  const near = items.slice(from, marked + context.rows + 1);
  const body = near.map((item, index) =>
    itemRow(item, { columns, isMarked: context.active && from + index === marked }),
  );
  return { body, at: marked - from };
}

function hintOf<T>({ items, marked, list }: PickerState<T>): string {
  const place = items.length > PAGE ? `${marked + 1} of ${items.length} · ` : "";
  return `${place}${list.ways ? "" : "type to search · "}Enter, Esc`;
}

/** The ways, the one in force marked. */
function waysLine<T>({ list, way }: PickerState<T>, { width }: PanelContext): Line[] {
  if (!list.ways) return [];
  const spans = list.ways.flatMap(({ key, label }, index): Span[] => [
    { text: text(`${key} ${label}`), style: index === way ? { inverse: true } : {} },
    { text: text("   ") },
  ]);
  const hint: Span = { text: text("other letters search"), style: { dim: true } };
  const columns = spans.reduce((sum, span) => sum + widthOf(span.text), 0);
  return [{ spans: columns + widthOf(hint.text) < width ? [...spans, hint] : spans, wrap: "none" }];
}

/** The widths of the label and of the details. Where there is little room, details are left out from the right. */
function columnsOf<T>(items: readonly PickItem<T>[], width: number): number[] {
  const cells = items.map(({ label, details = [] }) => [label, ...details]);
  const count = Math.max(...cells.map((row) => row.length));
  const widest = Array.from({ length: count }, (_, at) =>
    cells.reduce((most, row) => Math.max(most, widthOf(text(row[at] ?? ""))), 0),
  );
  const room = Math.max(1, width - 1 - CHOICE_MARK.length);
  const least = Math.min(widest[0]!, Math.ceil(room / 2));
  let details = widest.slice(1);
  const detailsWidth = () => details.reduce((sum, columns) => sum + columns + GAP, 0);
  while (details.length > 0 && room - detailsWidth() < least) details = details.slice(0, -1);
  return [Math.min(widest[0]!, room - detailsWidth()), ...details];
}

const GAP = 2;

interface RowOptions {
  columns: readonly number[];
  isMarked: boolean;
}

function itemRow<T>({ label, details = [] }: PickItem<T>, { columns, isMarked }: RowOptions): Line {
  const [name = "", ...rest] = columns.map((width, at) => {
    const shown = shortened(text([label, ...details][at] ?? ""), width);
    return `${shown}${" ".repeat(Math.max(0, width - widthOf(shown)))}`;
  });
  const tail = rest.map((cell) => " ".repeat(GAP) + cell).join("");
  return {
    spans: [
      { text: text(isMarked ? CHOICE_MARK : "  ") },
      { text: text(tail.trim() === "" ? name.trimEnd() : name), style: isMarked ? { inverse: true } : {} },
      { text: text(tail.trimEnd()), style: { dim: true } },
    ],
    wrap: "none",
  };
}

const shortened = (shown: string, columns: number): string =>
  widthOf(shown) <= columns ? shown : `${clipped(shown, Math.max(0, columns - 1))}…`;
