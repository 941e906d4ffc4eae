import type { InputFile } from "@cinch/core";
import { expanded, isLargePaste, labelFor, type Attached, type AttachedByLabel } from "./attached.ts";
import { boundaryAt, lineEnd, lineStart, nextBoundary, previousBoundary, wordEnd, wordStart } from "./boundaries.ts";
import { offsetAt, placeOf, editorRows } from "./rows.ts";

/** The text that is being written. A value: `edit` makes the next one. */
export interface EditorState {
  readonly text: string;
  /** An offset of the text, never within a grapheme or a label. */
  readonly cursor: number;
  readonly attached: AttachedByLabel;
  /** The column that moving up and down aims at. */
  readonly goal: number | null;
  /** What was killed, newest first. */
  readonly kills: readonly string[];
  readonly undo: readonly Snapshot[];
  /** What the last action was, for those that continue it. */
  readonly last: LastAction;
}

interface Snapshot {
  text: string;
  cursor: number;
}

type LastAction = { kind: "typed" | "killed" | "other" } | { kind: "yanked"; start: number; index: number };

export type EditorAction =
  | { type: "insert"; text: string }
  | { type: "paste"; text: string }
  | { type: "attach"; file: InputFile }
  /** Replaces everything, for example by an entry of the history. */
  | { type: "set"; text: string }
  | {
      type:
        | "newline"
        | "continue-line"
        | "left"
        | "right"
        | "up"
        | "down"
        | "word-left"
        | "word-right"
        | "line-start"
        | "line-end"
        | "backspace"
        | "delete"
        | "kill-to-line-start"
        | "kill-to-line-end"
        | "kill-word"
        | "kill-word-left"
        | "kill-solid-left"
        | "yank"
        | "yank-pop"
        | "undo";
    };

const MAX_UNDO = 200;
const MAX_KILLS = 20;
const OTHER: LastAction = { kind: "other" };

export const emptyEditor: EditorState = {
  text: "",
  cursor: 0,
  attached: {},
  goal: null,
  kills: [],
  undo: [],
  last: OTHER,
};

/**
 * The text after a key. An action that has nothing to do, such as `up` in the first row, returns the same state: then the key can mean
 * something else. `width`: that of the composer.
 */
export function edit(state: EditorState, action: EditorAction, width: number): EditorState {
  const { text, cursor } = state;
  switch (action.type) {
    case "insert":
      return inserted(state, action.text, typedRun(action.text));
    case "paste":
      return pasted(state, cleanText(action.text));
    case "attach":
      return withAttached(state, { kind: "file", file: action.file });
    case "set":
      return replaced(state, { start: 0, end: text.length, by: cleanText(action.text) });
    case "newline":
      return inserted(state, "\n", OTHER);
    case "continue-line":
      return text[cursor - 1] === "\\" ? replaced(state, { start: cursor - 1, end: cursor, by: "\n" }) : state;
    case "left":
      return moved(state, previousBoundary(state, cursor));
    case "right":
      return moved(state, nextBoundary(state, cursor));
    case "up":
      return vertical(state, -1, width);
    case "down":
      return vertical(state, 1, width);
    case "word-left":
      return moved(state, wordStart(state, cursor));
    case "word-right":
      return moved(state, wordEnd(state, cursor));
    case "line-start":
      return moved(state, lineStart(text, cursor));
    case "line-end":
      return moved(state, lineEnd(text, cursor));
    case "backspace":
      return replaced(state, { start: previousBoundary(state, cursor), end: cursor, by: "" });
    case "delete":
      return replaced(state, { start: cursor, end: nextBoundary(state, cursor), by: "" });
    case "kill-to-line-start":
      return killed(state, lineStart(text, cursor) === cursor ? cursor - 1 : lineStart(text, cursor));
    case "kill-to-line-end":
      return killed(state, lineEnd(text, cursor) === cursor ? cursor + 1 : lineEnd(text, cursor));
    case "kill-word":
      return killed(state, wordEnd(state, cursor));
    case "kill-word-left":
      return killed(state, wordStart(state, cursor));
    case "kill-solid-left":
      return killed(state, wordStart(state, cursor, "solid"));
    case "yank":
      return yanked(state, { start: cursor, index: 0 });
    case "yank-pop":
      return state.last.kind === "yanked" ? yanked(state, { ...state.last, index: state.last.index + 1 }) : state;
    case "undo":
      return undone(state);
  }
}

/** The message that the text stands for. */
export const composed = ({ text, attached }: EditorState): { content: string; files: InputFile[] } =>
  expanded(text, attached);

/** Only what was killed stays. */
export const cleared = ({ kills }: EditorState): EditorState => ({ ...emptyEditor, kills });

function moved(state: EditorState, cursor: number): EditorState {
  if (cursor === state.cursor) return state;
  return { ...state, cursor, goal: null, last: OTHER };
}

function vertical(state: EditorState, rows: -1 | 1, width: number): EditorState {
  const layout = editorRows(state.text, width);
  const { row, column } = placeOf(state.text, state.cursor, layout);
  if (!layout[row + rows]) return state;
  const goal = state.goal ?? column;
  const cursor = offsetAt(state.text, layout, { row: row + rows, column: goal });
  return { ...state, cursor: boundaryAt(state, cursor), goal, last: OTHER };
}

interface Replacement {
  start: number;
  end: number;
  by: string;
}

function replaced(state: EditorState, { start, end, by }: Replacement, last: LastAction = OTHER): EditorState {
  if (start === end && by === "") return state;
  const text = state.text.slice(0, start) + by + state.text.slice(end);
  const cursor = boundaryAt({ text, attached: state.attached }, start + by.length);
  // One undo reverts a word that was typed, not each of its letters.
  const continues = last.kind === "typed" && state.last.kind === "typed";
  const undo = continues ? state.undo : [...state.undo.slice(1 - MAX_UNDO), { text: state.text, cursor: state.cursor }];
  return { ...state, text, cursor, undo, goal: null, last };
}

const inserted = (state: EditorState, foreign: string, last: LastAction): EditorState =>
  replaced(breakRun(state, foreign), { start: state.cursor, end: state.cursor, by: cleanText(foreign) }, last);

/** A letter after white space begins another word. */
function breakRun(state: EditorState, typed: string): EditorState {
  const before = state.text[state.cursor - 1] ?? "";
  return /\s/.test(before) && /^\S/.test(typed) ? { ...state, last: OTHER } : state;
}

const typedRun = (typed: string): LastAction => (typed.length <= MAX_TYPED ? { kind: "typed" } : OTHER);

/** More comes from a program, not from fingers. */
const MAX_TYPED = 16;

function pasted(state: EditorState, content: string): EditorState {
  if (isLargePaste(content)) return withAttached(state, { kind: "text", text: content });
  return inserted(state, content, OTHER);
}

function withAttached(state: EditorState, attached: Attached): EditorState {
  const label = labelFor(attached, state.attached);
  return inserted({ ...state, attached: { ...state.attached, [label]: attached } }, label, OTHER);
}

/** Kills what is between the cursor and another offset. Kills in a row are one entry. */
function killed(state: EditorState, target: number): EditorState {
  const { text, cursor, kills, last } = state;
  const other = Math.min(Math.max(target, 0), text.length);
  if (other === cursor) return state;
  const [start, end] = other < cursor ? [other, cursor] : [cursor, other];
  const cut = text.slice(start, end);
  const [newest = "", ...older] = kills;
  const joined = other < cursor ? cut + newest : newest + cut;
  const ring = last.kind === "killed" ? [joined, ...older] : [cut, ...kills.slice(0, MAX_KILLS - 1)];
  return { ...replaced(state, { start, end, by: "" }), kills: ring, last: { kind: "killed" } };
}

function yanked(state: EditorState, { start, index }: { start: number; index: number }): EditorState {
  if (state.kills.length === 0) return state;
  const at = index % state.kills.length;
  const last = { kind: "yanked", start, index: at } as const;
  return { ...replaced(state, { start, end: state.cursor, by: state.kills[at]! }), last };
}

function undone(state: EditorState): EditorState {
  const before = state.undo.at(-1);
  if (!before) return state;
  return { ...state, ...before, undo: state.undo.slice(0, -1), goal: null, last: OTHER };
}

/** A paste may contain anything; the text of a message has no control characters but line ends and tabs. */
const cleanText = (foreign: string): string =>
  foreign.replace(/\r\n?/g, "\n").replace(/[\p{Cc}]/gu, (char) => (char === "\n" || char === "\t" ? char : ""));
