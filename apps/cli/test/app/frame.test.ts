import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { composeFrame, type FrameParts } from "../../src/app/frame.ts";
import { composerView } from "../../src/app/composer-view.ts";
import { emptyEditor } from "../../src/composer/editor.ts";
import { line } from "../../src/terminal/line.ts";
import { plainText } from "../terminal/stage.ts";

const lines = (name: string, count: number) => Array.from({ length: count }, (_, at) => line(`${name} ${at + 1}`));

const parts = (given: Partial<FrameParts> = {}): FrameParts => ({
  print: [],
  transcript: lines("answer", 3),
  activity: lines("activity", 1),
  agents: [],
  tasks: lines("task", 2),
  queue: [],
  notices: lines("notice", 1),
  panel: null,
  composer: { lines: [line("> hello")], cursor: { row: 0, column: 7 } },
  status: [line("status")],
  panelHasKeys: false,
  ...given,
});

const shown = (given: Partial<FrameParts>, rows: number, columns = 10) => {
  const { live, cursor } = composeFrame(parts(given), { rows, columns });
  return { rows: live.map(plainText), cursor };
};

test("the screen has the transcript, what happens, and the composer with the cursor", () => {
  assert.deepEqual(shown({}, 24), {
    rows: [
      "answer 1",
      "answer 2",
      "answer 3",
      "activity 1",
      "task 1",
      "task 2",
      "notice 1",
      "─────────",
      "> hello",
      "─────────",
      "status",
    ],
    cursor: { row: 8, column: 7 },
  });
});

test("what streams is shown by its end, and the rest is counted", () => {
  const { rows } = shown({ transcript: lines("answer", 100) }, 12);
  assert.deepEqual(rows.slice(0, 3), ["… 98 more lines", "answer 99", "answer 100"]);
  assert.equal(rows.length, 11);
});

test("a small screen loses rules, then notices, then the status line; the composer stays", () => {
  assert.deepEqual(shown({}, 7).rows, ["activity 1", "notice 1", "─────────", "> hello", "─────────", "status"]);
  assert.deepEqual(shown({}, 5).rows, ["activity 1", "notice 1", "> hello", "status"]);
  assert.deepEqual(shown({}, 4).rows, ["activity 1", "> hello", "status"]);
  assert.deepEqual(shown({}, 3).rows, ["activity 1", "> hello"]);
  assert.deepEqual(shown({}, 2).rows, ["> hello"]);
  assert.deepEqual(shown({}, 1).rows, ["> hello"]);
});

test("the cursor is in the panel that has the keys", () => {
  const panel = { lines: lines("panel", 3), cursor: { row: 1, column: 4 } };
  assert.deepEqual(shown({ panel, panelHasKeys: true }, 24).cursor, { row: 8, column: 4 });
  assert.deepEqual(shown({ panel, panelHasKeys: false }, 24).cursor, { row: 11, column: 7 });
});

test("at any size there is a frame whose cursor is in the composer", () => {
  const size = fc.record({ rows: fc.integer({ min: 1, max: 60 }), columns: fc.integer({ min: 1, max: 200 }) });
  fc.assert(
    fc.property(size, fc.string({ unit: "grapheme", maxLength: 300 }), fc.nat(300), ({ rows, columns }, text, at) => {
      const editor = { ...emptyEditor, text, cursor: Math.min(at, text.length) };
      const composer = composerView(editor, { columns, rows: Math.max(1, Math.floor(rows / 2)) });
      const { live, cursor } = composeFrame(parts({ composer }), { rows, columns });
      assert.ok(live.length <= Math.max(rows - 1, composer.lines.length));
      assert.ok(cursor && cursor.row < live.length);
      assert.ok(composer.lines.includes(live[cursor.row]!));
    }),
  );
});
