/**
 * An editor on a list of characters, as simple as can be: the real one must do the same. Every character here is a grapheme, and none
 * joins its neighbour.
 */
export interface NaiveEditor {
  chars: string[];
  cursor: number;
  kills: string[][];
  undo: { chars: string[]; cursor: number }[];
  last: "typed" | "killed" | "yanked" | "other";
  yank: { start: number; index: number };
  goal: number | null;
}

export const naiveEditor = (): NaiveEditor => ({
  chars: [],
  cursor: 0,
  kills: [],
  undo: [],
  last: "other",
  yank: { start: 0, index: 0 },
  goal: null,
});

const isSpace = (char: string | undefined): boolean => char !== undefined && /\s/.test(char);
const isLetter = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
const WIDE = new Set(["漢", "👨‍👩‍👧"]);
const columns = (chars: string[]): number => chars.reduce((sum, char) => sum + (WIDE.has(char) ? 2 : 1), 0);

type Change = { start: number; end: number; by: string[] };

function change(editor: NaiveEditor, { start, end, by }: Change, last: NaiveEditor["last"]): void {
  if (start === end && by.length === 0) return;
  if (!(last === "typed" && editor.last === "typed"))
    editor.undo.push({ chars: [...editor.chars], cursor: editor.cursor });
  editor.chars.splice(start, end - start, ...by);
  editor.cursor = start + by.length;
  editor.last = last;
  editor.goal = null;
}

function move(editor: NaiveEditor, cursor: number): void {
  if (cursor === editor.cursor) return;
  editor.cursor = cursor;
  editor.last = "other";
  editor.goal = null;
}

function kill(editor: NaiveEditor, start: number, end: number): void {
  if (start === end) return;
  const cut = editor.chars.slice(start, end);
  const backwards = end === editor.cursor;
  if (editor.last === "killed")
    editor.kills[0] = backwards ? [...cut, ...editor.kills[0]!] : [...editor.kills[0]!, ...cut];
  else editor.kills.unshift(cut);
  change(editor, { start, end, by: [] }, "killed");
}

function ends(editor: NaiveEditor): { start: number; end: number } {
  let start = editor.cursor;
  while (start > 0 && editor.chars[start - 1] !== "\n") start--;
  let end = editor.cursor;
  while (end < editor.chars.length && editor.chars[end] !== "\n") end++;
  return { start, end };
}

function wordLeft({ chars, cursor }: NaiveEditor, belongs: (char: string | undefined) => boolean): number {
  let at = cursor;
  while (at > 0 && !belongs(chars[at - 1])) at--;
  while (at > 0 && belongs(chars[at - 1])) at--;
  return at;
}

function wordRight({ chars, cursor }: NaiveEditor): number {
  let at = cursor;
  while (at < chars.length && !isLetter(chars[at])) at++;
  while (at < chars.length && isLetter(chars[at])) at++;
  return at;
}

/** Every place where the cursor can be, row by row: its index and its column. */
function places({ chars }: NaiveEditor, width: number): { index: number; column: number }[][] {
  const rows: { index: number; column: number }[][] = [[{ index: 0, column: 0 }]];
  for (const [index, char] of chars.entries()) {
    const row = rows.at(-1)!;
    if (char === "\n") {
      rows.push([{ index: index + 1, column: 0 }]);
      continue;
    }
    const { column } = row.at(-1)!;
    if (column + columns([char]) > width - 1 && row.length > 1) {
      row.pop();
      rows.push([
        { index, column: 0 },
        { index: index + 1, column: columns([char]) },
      ]);
    } else row.push({ index: index + 1, column: column + columns([char]) });
  }
  return rows;
}

function vertical(editor: NaiveEditor, step: number, width: number): void {
  const rows = places(editor, width);
  const at = rows.findIndex((row) => row.some(({ index }) => index === editor.cursor));
  const target = rows[at + step];
  if (!target) return;
  const goal = editor.goal ?? rows[at]!.find(({ index }) => index === editor.cursor)!.column;
  editor.cursor = target.findLast(({ column }) => column <= goal)!.index;
  editor.last = "other";
  editor.goal = goal;
}

/** `insert` has a single character. */
export function naiveEdit(editor: NaiveEditor, action: { type: string; text?: string }, width: number): void {
  const { chars, cursor } = editor;
  const { start, end } = ends(editor);
  switch (action.type) {
    case "insert":
      if (isSpace(chars[cursor - 1]) && !isSpace(action.text)) editor.last = "other";
      return change(editor, { start: cursor, end: cursor, by: [action.text!] }, "typed");
    case "newline":
      return change(editor, { start: cursor, end: cursor, by: ["\n"] }, "other");
    case "continue-line":
      return chars[cursor - 1] === "\\"
        ? change(editor, { start: cursor - 1, end: cursor, by: ["\n"] }, "other")
        : undefined;
    case "left":
      return move(editor, Math.max(0, cursor - 1));
    case "right":
      return move(editor, Math.min(chars.length, cursor + 1));
    case "up":
      return vertical(editor, -1, width);
    case "down":
      return vertical(editor, 1, width);
    case "word-left":
      return move(editor, wordLeft(editor, isLetter));
    case "word-right":
      return move(editor, wordRight(editor));
    case "line-start":
      return move(editor, start);
    case "line-end":
      return move(editor, end);
    case "backspace":
      return change(editor, { start: Math.max(0, cursor - 1), end: cursor, by: [] }, "other");
    case "delete":
      return change(editor, { start: cursor, end: Math.min(chars.length, cursor + 1), by: [] }, "other");
    case "kill-to-line-start":
      return kill(editor, start === cursor ? Math.max(0, cursor - 1) : start, cursor);
    case "kill-to-line-end":
      return kill(editor, cursor, end === cursor ? Math.min(chars.length, cursor + 1) : end);
    case "kill-word":
      return kill(editor, cursor, wordRight(editor));
    case "kill-word-left":
      return kill(editor, wordLeft(editor, isLetter), cursor);
    case "kill-solid-left":
      return kill(
        editor,
        wordLeft(editor, (char) => !isSpace(char)),
        cursor,
      );
    case "yank":
      return yank(editor, { start: cursor, index: 0 });
    case "yank-pop":
      return editor.last === "yanked"
        ? yank(editor, { start: editor.yank.start, index: editor.yank.index + 1 })
        : undefined;
    case "undo": {
      const before = editor.undo.pop();
      if (before) Object.assign(editor, { ...before, last: "other", goal: null });
    }
  }
}

function yank(editor: NaiveEditor, { start, index }: { start: number; index: number }): void {
  if (editor.kills.length === 0) return;
  const at = index % editor.kills.length;
  change(editor, { start, end: editor.cursor, by: editor.kills[at]! }, "yanked");
  editor.last = "yanked";
  editor.yank = { start, index: at };
}
