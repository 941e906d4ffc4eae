import type { KeyEvent } from "../terminal/keys.ts";
import { text, type Line, type Span, type Style } from "../terminal/line.ts";
import { greatestWidth, widthOf } from "../terminal/width.ts";
import { brokenLines, wrapSpans } from "../text/wrap.ts";
import type { PanelContext } from "./panel.ts";

/** A choice that is taken by its key, or by Enter when it is marked. */
export interface KeyChoice<Id extends string> {
  id: Id;
  key: string;
  label: string;
}

/** Two columns before each choice, in which only the marked one has a sign. */
export const CHOICE_MARK = "› ";
const NO_MARK = "  ";
const MARKED: Style = { inverse: true };

/** The foreign part of a label. It stays in its quotes, and has no run of spaces, which separates choices. */
export const quotedLabel = (foreign: string): string =>
  `"${text(foreign, { reveal: true })
    .replaceAll(/["\\]/g, "\\$&")
    .replaceAll(/(?<= ) /g, "<U+0020>")}"`;

/** The choices, as many in a row as fit; and the first row of the marked one. */
export function choiceRows<Id extends string>(
  choices: readonly KeyChoice<Id>[],
  marked: number,
  { width, active }: Pick<PanelContext, "width" | "active">,
): { body: Line[]; at: number } {
  const room = Math.max(1, width - 1);
  const body: Line[] = [];
  let at = 0;
  let used = 0;
  for (const [index, { key, label }] of choices.entries()) {
    const isMarked = active && index === marked;
    const item = itemSpans(`${key} ${label}`, { isMarked, active });
    const columns = item.reduce((sum, span) => sum + greatestWidth(span.text), 0);
    const joins = used > 0 && used + 1 + columns <= room;
    const rows = itemRows(item, columns, room);
    if (joins) body.at(-1)!.spans.push({ text: text(" ") }, ...item);
    else body.push(...rows);
    used = joins ? used + 1 + columns : columns;
    if (index === marked) at = body.length - rows.length;
  }
  return { body, at };
}

function itemSpans(label: string, { isMarked, active }: { isMarked: boolean; active: boolean }): [Span, Span] {
  const unmarked: Style = active ? {} : { dim: true };
  return [{ text: text(isMarked ? CHOICE_MARK : NO_MARK) }, { text: text(label), style: isMarked ? MARKED : unmarked }];
}

/** A label that is longer than a row goes on in rows that are indented more than a choice. */
function itemRows([mark, label]: [Span, Span], columns: number, room: number): Line[] {
  if (columns <= room) return [{ spans: [mark, label], wrap: "none" }];
  const indent: Span = { text: text(NO_MARK.repeat(2)) };
  return indentedRows([label], { first: mark, rest: indent, room });
}

/** Breaks a label at words, and within words that are too long for any terminal. */
export function indentedRows(label: Span[], { first, rest, room }: { first: Span; rest: Span; room: number }): Line[] {
  const wide = Math.max(1, room - widthOf(rest.text));
  return wrapSpans(label, wide)
    .flatMap(({ spans }) => brokenLines({ spans }, wide, greatestWidth))
    .map(({ spans }, row) => ({ spans: [row === 0 ? first : rest, ...spans], wrap: "none" }));
}

/** The choice after an arrow. `undefined` if the key is none. */
export function movedMark(event: KeyEvent, { marked, count }: { marked: number; count: number }): number | undefined {
  if (event.type !== "key") return undefined;
  const step = { left: -1, up: -1, right: 1, down: 1, "ctrl-p": -1, "ctrl-n": 1 }[event.key];
  if (step === undefined) return undefined;
  return Math.max(0, Math.min(marked + step, count - 1));
}

/** The choice that a key takes: its own key, or Enter on the marked one. */
export function takenChoice<Id extends string>(
  event: KeyEvent,
  choices: readonly KeyChoice<Id>[],
  marked: number,
): Id | undefined {
  if (event.type === "key") return event.key === "enter" ? choices[marked]?.id : undefined;
  if (event.type !== "text") return undefined;
  return choices.find(({ key }) => key === event.text.toLowerCase())?.id;
}
