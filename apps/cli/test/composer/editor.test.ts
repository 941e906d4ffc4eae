import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  cleared,
  composed,
  edit,
  emptyEditor,
  type EditorAction,
  type EditorState,
} from "../../src/composer/editor.ts";
import { editorAction, type ComposerInput } from "../../src/composer/editor-keys.ts";
import { placeOf, editorRows } from "../../src/composer/rows.ts";
import { naiveEdit, naiveEditor } from "./naive-editor.ts";

const WIDTH = 40;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The state after keys: `ctrl-a` is a key, any other text is typed. */
function typed(keys: string[], from: EditorState = emptyEditor): EditorState {
  return keys.reduce((state, key) => {
    const named = /^(?:ctrl|alt|shift)-|^(?:left|right|up|down|home|end|backspace|delete)$/.test(key);
    const inputs: ComposerInput[] = named ? [{ type: "key", key }] : [...key].map((text) => ({ type: "text", text }));
    return inputs.reduce((next, input) => edit(next, editorAction(input)!, WIDTH), state);
  }, from);
}
const paste = (state: EditorState, text: string): EditorState => edit(state, { type: "paste", text }, WIDTH);
/** The text with the cursor shown as `|`. */
const shown = ({ text, cursor }: EditorState): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

const character = fc.constantFrom("a", "b", "_", " ", "-", "\\", "漢", "👨‍👩‍👧", "e\u0301");
type PlainAction = Exclude<EditorAction["type"], "insert" | "paste" | "attach" | "set">;
const names: PlainAction[] = [
  "newline",
  "continue-line",
  "left",
  "right",
  "up",
  "down",
  "word-left",
  "word-right",
  "line-start",
  "line-end",
  "backspace",
  "delete",
  "kill-to-line-start",
  "kill-to-line-end",
  "kill-word",
  "kill-word-left",
  "kill-solid-left",
  "yank",
  "yank-pop",
  "undo",
];
const action: fc.Arbitrary<EditorAction> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant("insert" as const), text: character }) },
  { weight: 3, arbitrary: fc.constantFrom(...names).map((type): EditorAction => ({ type })) },
);

test("any keys give the text and the cursor of a naive editor", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60, size: "max" }), fc.integer({ min: 3, max: 12 }), (actions, width) => {
      const naive = naiveEditor();
      let state = emptyEditor;
      for (const next of actions) {
        state = edit(state, next, width);
        naiveEdit(naive, next, width);
        assert.deepEqual(
          { text: state.text, cursor: state.cursor, kills: state.kills.slice(0, 5) },
          {
            text: naive.chars.join(""),
            cursor: naive.chars.slice(0, naive.cursor).join("").length,
            kills: naive.kills.slice(0, 5).map((chars) => chars.join("")),
          },
          next.type,
        );
      }
    }),
    { numRuns: 1_000 },
  );
});

test("the cursor is on a row of the composer and between graphemes, whatever is pasted", () => {
  const anything = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
  fc.assert(
    fc.property(
      fc.array(fc.oneof(action, anything), { maxLength: 30, size: "max" }),
      fc.integer({ min: 1, max: 12 }),
      (all, width) => {
        let state = emptyEditor;
        for (const next of all)
          state = edit(state, typeof next === "string" ? { type: "paste", text: next } : next, width);
        const rows = editorRows(state.text, width);
        const { row } = placeOf(state.text, state.cursor, rows);
        assert.ok(rows[row]!.start <= state.cursor && state.cursor <= rows[row]!.end);
        assert.equal(
          rows.map(({ start, end }) => state.text.slice(start, end)).join(""),
          state.text.replaceAll("\n", ""),
        );
        assert.doesNotMatch(state.text, /[^\P{Cc}\n\t]/u);
        const before = [...graphemes.segment(state.text)].map((grapheme) => grapheme.index);
        assert.ok([...before, state.text.length].includes(state.cursor));
      },
    ),
  );
});

test("the keys of readline", () => {
  assert.equal(shown(typed(["one two", "ctrl-a"])), "|one two");
  assert.equal(shown(typed(["one two", "alt-b", "ctrl-k"])), "one |");
  assert.equal(shown(typed(["one two.x", "ctrl-w"])), "one |");
  assert.equal(shown(typed(["one two.x", "alt-backspace"])), "one two.|");
  assert.equal(shown(typed(["one two", "ctrl-u", "ctrl-y", "ctrl-y"])), "one twoone two|");
  assert.equal(shown(typed(["a b c", "ctrl-w", "ctrl-w", "ctrl-y"])), "a b c|");
  assert.equal(shown(typed(["one", "ctrl-u", "two", "ctrl-u", "ctrl-y", "alt-y"])), "one|");
  assert.equal(shown(typed(["one", "shift-enter", "two", "up", "x"])), "onex|\ntwo");
});

test("undo reverts word by word, and kills at once", () => {
  const state = typed(["one two", "ctrl-u"]);
  const undone = [1, 2, 3].map(
    (times) =>
      typed(
        Array.from({ length: times }, () => "ctrl-_"),
        state,
      ).text,
  );
  assert.deepEqual(undone, ["one two", "one ", ""]);
});

test("a backslash before Enter makes a new line", () => {
  assert.equal(shown(edit(typed(["a\\"]), { type: "continue-line" }, WIDTH)), "a\n|");
  const plain = typed(["a"]);
  assert.equal(edit(plain, { type: "continue-line" }, WIDTH), plain);
});

test("moving up keeps the column over shorter lines, and the first row leaves the key to the history", () => {
  const state = typed(["long line", "ctrl-j", "x", "ctrl-j", "another"]);
  assert.equal(shown(typed(["up", "up"], state)), "long li|ne\nx\nanother");
  const top = typed(["up", "up"], state);
  assert.equal(edit(top, { type: "up" }, WIDTH), top);
});

test("a large paste is a label that is sent as what was pasted", () => {
  const content = "line\n".repeat(50);
  const state = typed([" please"], paste(typed(["fix: "]), content));
  assert.equal(state.text, "fix: [paste 1: 51 lines] please");
  assert.deepEqual(composed(state), { content: `fix: ${content} please`, files: [] });
});

test("a label is one unit for the cursor, for deletions and for words", () => {
  const state = paste(typed(["a "]), "x".repeat(5_000));
  assert.equal(shown(state), "a [paste 1: 5000 characters]|");
  assert.equal(shown(typed(["left"], state)), "a |[paste 1: 5000 characters]");
  assert.equal(shown(typed(["left", "right"], state)), shown(state));
  for (const key of ["backspace", "alt-backspace"]) assert.equal(shown(typed([key], state)), "a |");
  assert.equal(shown(typed(["left", "alt-d"], state)), "a |");
  assert.equal(typed(["backspace", "ctrl-_"], state).text, state.text);
});

test("two pastes and an image keep their places", () => {
  const file = { mediaType: "image/png", data: new Uint8Array([1]), filename: "a.png" };
  let state = paste(emptyEditor, "y".repeat(2_000));
  state = edit(typed([" and "], state), { type: "attach", file }, WIDTH);
  state = paste(typed([" "], state), "z".repeat(2_000));
  assert.deepEqual(composed(state), {
    content: `${"y".repeat(2_000)} and [image 2: a.png] ${"z".repeat(2_000)}`,
    files: [file],
  });
  assert.deepEqual(composed(typed(["ctrl-u"], state)), { content: "", files: [] });
});

test("a label in what was pasted is not expanded", () => {
  const first = paste(emptyEditor, "a".repeat(2_000));
  const second = paste(first, `[paste 1: 2000 characters]${"b".repeat(2_000)}`);
  assert.equal(composed(second).content, `${"a".repeat(2_000)}[paste 1: 2000 characters]${"b".repeat(2_000)}`);
});

test("what was killed outlives the message", () => {
  assert.equal(typed(["ctrl-y"], cleared(typed(["one", "ctrl-u"]))).text, "one");
});

test("a key in a text of 100 kB takes a moment", () => {
  let state = edit(emptyEditor, { type: "set", text: "word 漢字 text\n".repeat(8_000) }, 80);
  const started = performance.now();
  for (const type of ["up", "left", "word-left", "backspace", "down", "yank", "undo"] as const)
    state = edit(state, { type }, 80);
  assert.ok(performance.now() - started < 30_000);
});
