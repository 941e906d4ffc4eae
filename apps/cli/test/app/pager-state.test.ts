import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  pagerAfter,
  pagerResized,
  pagerState,
  pagerView,
  pagerWantsOlder,
  type PagerEvent,
  type PagerState,
} from "../../src/app/pager-state.ts";
import { pagerRows } from "../../src/app/pager-text.ts";
import type { KeyEvent } from "../../src/terminal/keys.ts";
import { line, type Line } from "../../src/terminal/line.ts";
import { widthOf } from "../../src/terminal/width.ts";
import { plainText, styledText } from "../text/shown.ts";

const numbered = (count: number, from = 0): Line[] =>
  Array.from({ length: count }, (_, at) => line(`line ${from + at}`));
const key = (name: string): PagerEvent => ({ type: "keys", event: { type: "key", key: name } });
const typed = (text: string): PagerEvent[] =>
  Array.from(text, (char) => ({ type: "keys", event: { type: "text", text: char } as KeyEvent }));
const older = (lines: readonly Line[] | null): PagerEvent => ({ type: "older", lines });

function after(state: PagerState, ...events: PagerEvent[]): PagerState {
  return events.reduce((current, event) => {
    const next = pagerAfter(current, event);
    assert.ok(next, "the pager was closed");
    return next;
  }, state);
}

const opened = (from: "start" | "end", size = { columns: 40, rows: 6 }) =>
  pagerResized(pagerState({ title: "Thread", from }), size);
const content = (state: PagerState): string[] =>
  pagerView(state)
    .lines.slice(0, Math.max(1, state.size.rows - 2))
    .map(plainText);
const status = (state: PagerState): string => plainText(pagerView(state).lines.at(-1)!);

test("a thread opens at its end with the newest page, and older pages are wanted only when they come near", () => {
  let state = opened("end");
  assert.equal(pagerWantsOlder(state), true);
  assert.match(status(state), /loading …/);
  state = after(state, older(numbered(1_000, 9_000)));
  assert.deepEqual(content(state), ["line 9996", "line 9997", "line 9998", "line 9999"]);
  assert.equal(pagerWantsOlder(state), false);
  for (let pages = 0; pages < 300; pages++) state = after(state, key("pageup"));
  assert.equal(pagerWantsOlder(state), true);
  const before = content(state);
  state = after(state, older(numbered(1_000, 8_000)));
  assert.deepEqual(content(state), before);
  assert.equal(pagerWantsOlder(state), false);
});

test("g loads everything and goes to the first line; G goes back to the last", () => {
  let state = after(opened("end"), older(numbered(300, 600)), ...typed("g"));
  assert.equal(pagerWantsOlder(state), true);
  state = after(state, older(numbered(300, 300)));
  assert.equal(pagerWantsOlder(state), true);
  state = after(state, older(numbered(300)), older(null));
  assert.deepEqual([content(state)[0], pagerWantsOlder(state)], ["line 0", false]);
  assert.match(status(state), /0 %/);
  assert.equal(content(after(state, ...typed("G"))).at(-1), "line 899");
});

test("a search in a thread goes up, into pages that are not loaded yet, and says when it finds nothing", () => {
  let state = after(opened("end"), older(numbered(300, 600)), ...typed("/LINE 1"), key("enter"));
  assert.match(status(state), /searching for LINE 1 …/);
  state = after(state, older(numbered(300, 300)), older(numbered(300)), older(null));
  assert.match(status(state), /not found: LINE 1/);
  state = after(opened("end"), older(numbered(300, 600)), ...typed("/line 12"), key("enter"));
  state = after(state, older(numbered(300, 300)), older(numbered(300)));
  assert.equal(content(state)[0], "line 129");
  assert.equal(content(after(state, ...typed("n")))[0], "line 128");
  assert.equal(content(after(state, ...typed("nnN")))[0], "line 128");
  assert.equal(styledText(pagerView(state).lines[0]!), "<inverse>line 12</>9");
});

test("a search in a text that opens at its start goes down", () => {
  const state = after(opened("start"), older(numbered(100)), older(null), ...typed("/7"), key("enter"));
  assert.equal(content(state)[0], "line 7");
  assert.equal(content(after(state, ...typed("n")))[0], "line 17");
  assert.equal(content(after(state, ...typed("nN")))[0], "line 7");
  assert.match(status(after(state, ...typed("nnnnnnnnnnnnnnnnnnnnnnn"))), /not found: 7/);
});

test("while a search is typed its text is in the last row, with the cursor; Esc ends it and not the pager", () => {
  const state = after(opened("start"), older(numbered(10)), ...typed("/qn"));
  assert.equal(status(state), "/qn");
  assert.deepEqual(pagerView(state).cursor, { row: 4, column: 3 });
  assert.match(status(after(state, key("escape"))), /Thread/);
});

test("q, Esc and Ctrl-C close the pager", () => {
  for (const event of [...typed("q"), key("escape"), key("ctrl-c")])
    assert.equal(pagerAfter(opened("end"), event), null);
});

test("what can't be loaded is said, and what is loaded stays", () => {
  const state = after(opened("end"), older(numbered(10)), {
    type: "failed",
    problem: "not loaded: the store is closed",
  });
  assert.match(status(state), /not loaded: the store/);
  assert.deepEqual([content(state).at(-1), pagerWantsOlder(state)], ["line 9", false]);
});

const words = fc.string({ unit: fc.constantFrom(..."ab  漢é"), maxLength: 60 }).map((text) => line(text));
const page = fc.array(words, { maxLength: 30 });
const size = fc.record({ columns: fc.integer({ min: 1, max: 30 }), rows: fc.integer({ min: 1, max: 12 }) });
const scrolls = ["up", "down", "pageup", "pagedown", "ctrl-u", "ctrl-d"];
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...scrolls).map(key) },
  { weight: 1, arbitrary: fc.constantFrom("g", "G", "n", "N").map((char) => typed(char)[0]!) },
  { weight: 1, arbitrary: fc.oneof(page, fc.constant(null)).map(older) },
  { weight: 1, arbitrary: size },
);

test("on any screen, after any keys, the pager shows a part of the text without a gap, and a full screen of it if there is one", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("start" as const, "end" as const),
      size,
      fc.array(step, { maxLength: 40 }),
      (from, first, steps) => {
        let state = opened(from, first);
        for (const one of steps) {
          state =
            "columns" in one
              ? pagerResized(state, one)
              : after(state, state.isWhole && one.type === "older" ? older(null) : one);
          const { columns, rows } = state.size;
          const { lines, cursor } = pagerView(state);
          assert.ok(lines.length >= 1 && lines.length <= Math.max(1, rows - 1));
          assert.equal(cursor, null);
          for (const row of lines) assert.ok(widthOf(plainText(row)) <= Math.max(2, columns - 1));
          const all = state.lines.flatMap((row) => pagerRows(row, { width: columns, query: "" })).map(plainText);
          const room = Math.max(1, rows - 2);
          const at = state.lines
            .slice(0, state.top.line)
            .reduce((sum, row) => sum + pagerRows(row, { width: columns, query: "" }).length, state.top.row);
          assert.deepEqual(content(state).slice(0, all.length), all.slice(at, at + room));
          assert.ok(at === 0 || at + room <= all.length, "the screen could be full");
          assert.equal(state.atEnd, state.atEnd && at + room >= all.length);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("as many rows up as down lead back", () => {
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 40, maxLength: 60 }),
      fc.integer({ min: 1, max: 30 }),
      (lines, columns) => {
        const start = after(opened("start", { columns, rows: 8 }), older(lines), older(null));
        const down = after(start, ...Array.from({ length: 20 }, () => key("down")));
        const back = after(down, ...Array.from({ length: 20 }, () => key("up")));
        assert.deepEqual(back.top, start.top);
      },
    ),
  );
});

test("a search that finds a text a hundred thousand times in one line does not stop the app", () => {
  const state = after(opened("end"), older([line("y ".repeat(250_000))]), ...typed("/y y"), key("enter"));
  assert.equal(content(state).length, 4);
  assert.match(styledText(pagerView(state).lines[0]!), /inverse/);
});
