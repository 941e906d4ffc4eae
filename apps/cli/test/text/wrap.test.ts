import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { text, type Span } from "../../src/terminal/line.ts";
import { widthOf } from "../../src/terminal/width.ts";
import { brokenLines, wrapLines, wrapSpans, type WrappedRow } from "../../src/text/wrap.ts";

const plainText = (spans: Span[]): string => spans.map((span) => span.text).join("");
const editorRows = (whole: string, width: number): string[] =>
  wrapSpans([{ text: text(whole) }], width).map((row) => plainText(row.spans));

/** Words, wide characters, emoji, combining marks and runs of spaces. */
const prose = fc
  .array(fc.constantFrom("a", "word", "https://example.com/a/b", " ", "  ", "漢", "字。", "👨‍👩‍👧", "é", "「", "-"), {
    maxLength: 40,
    size: "max",
  })
  .map((parts) => parts.join(""));
const styled = fc.array(
  fc.record({ text: prose.map(text), style: fc.constantFrom({}, { bold: true }, { dim: true }) }),
  { maxLength: 5, size: "max" },
);

test("joining the wrapped rows, with the white space between them, gives the text back", () => {
  fc.assert(
    fc.property(styled, fc.integer({ min: 1, max: 30 }), (spans, width) => {
      const rows = wrapSpans(spans, width);
      assert.equal(rows.map((row) => plainText(row.spans) + row.gap).join(""), plainText(spans));
      for (const row of rows) assert.match(row.gap, /^\s*$/);
    }),
  );
});

test("each character keeps its style", () => {
  const characters = (spans: Span[]) => spans.flatMap((span) => [...span.text].map((char) => [char, span.style]));
  const visible = (row: WrappedRow) => characters([...row.spans, { text: text(row.gap) }]);
  fc.assert(
    fc.property(styled, fc.integer({ min: 1, max: 30 }), (spans, width) => {
      const solid = (all: [string, unknown][]) => all.filter(([char]) => char !== " ");
      const rows = wrapSpans(spans, width).flatMap(visible) as [string, unknown][];
      assert.deepEqual(solid(rows), solid(characters(spans) as [string, unknown][]));
    }),
  );
});

test("a row is wider than the screen only if it is one word, which is then left to the terminal", () => {
  fc.assert(
    fc.property(prose, fc.integer({ min: 2, max: 30 }), (whole, width) => {
      for (const [index, row] of wrapSpans([{ text: text(whole) }], width).entries()) {
        const shown = plainText(row.spans);
        assert.equal(row.tooLong, widthOf(shown) > width);
        if (!row.tooLong) continue;
        // The indentation of the first row stays with its word.
        assert.doesNotMatch(index === 0 ? shown.trimStart() : shown, /\s/);
      }
    }),
  );
});

test("prose is broken at words", () => {
  assert.deepEqual(editorRows("the loop starts at one", 10), ["the loop", "starts at", "one"]);
  assert.deepEqual(editorRows("  indented text", 10), ["  indented", "text"]);
  assert.deepEqual(editorRows("", 10), [""]);
});

test("a URL that does not fit stands whole in its own row", () => {
  const url = "https://example.com/a-very-long-path?with=query";
  assert.deepEqual(editorRows(`see ${url} for more`, 20), ["see", url, "for more"]);
  const lines = wrapLines([{ text: text(`see ${url}`) }], 20);
  assert.deepEqual(
    lines.map((line) => line.wrap),
    ["words", "terminal"],
  );
});

test("wide characters are broken between, but not before closing punctuation", () => {
  assert.deepEqual(editorRows("漢字漢字", 4), ["漢字", "漢字"]);
  assert.deepEqual(editorRows("漢字。漢", 4), ["漢", "字。", "漢"]);
});

test("rows after the first stand below the text of the first", () => {
  const lines = wrapLines([{ text: text("one two three") }], 9, {
    first: [{ text: text("- ") }],
    rest: [{ text: text("  ") }],
  });
  assert.deepEqual(
    lines.map((line) => plainText(line.spans)),
    ["- one two", "  three"],
  );
});

test("in what is redrawn, a long word or line of code is broken where a row is full, and stays whole", () => {
  fc.assert(
    fc.property(styled, fc.integer({ min: 2, max: 30 }), (spans, width) => {
      const rows = brokenLines({ spans, wrap: "terminal" }, width);
      assert.equal(rows.map((row) => plainText(row.spans)).join(""), plainText(spans));
      for (const row of rows) assert.ok(widthOf(plainText(row.spans)) <= width);
    }),
  );
  const rows = brokenLines({ spans: [{ text: text("const a = 漢字") }] }, 8);
  assert.deepEqual(
    rows.map((row) => plainText(row.spans)),
    ["const a ", "= 漢字"],
  );
});

test("a text of a megabyte is wrapped in one pass", () => {
  const rows = wrapSpans([{ text: text("word ".repeat(200_000)) }], 80);
  assert.equal(rows.length, 12_500);
});
