import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { clipped, graphemes, greatestWidth, widthOf } from "../../src/terminal/width.ts";

test("a grapheme takes the columns that the standard gives it", () => {
  const columns: Record<number, string[]> = {
    0: ["", "\u200b", "\u0301"],
    1: ["a", "é", "e\u0301", "─", "·", "›", "✓", "⠋", "❤", "ｶ", "नि"],
    2: ["漢", "한", "\u1112\u1161\u11ab", "Ａ", "👍", "👍🏽", "❤️", "1️⃣", "🇩🇪", "👨‍👩‍👧", "☕"],
  };
  for (const [width, some] of Object.entries(columns))
    for (const grapheme of some) assert.equal(widthOf(grapheme), Number(width), grapheme);
});

test("the width of a text is the sum of its graphemes, and no terminal takes more than the greatest width", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", " ", "漢", "❤️", "👨‍👩‍👧", "─", "é") }), (some) => {
      assert.equal(
        widthOf(some),
        graphemes(some).reduce((sum, grapheme) => sum + widthOf(grapheme), 0),
      );
      assert.ok(greatestWidth(some) >= widthOf(some));
    }),
  );
});

test("clipping keeps as many whole graphemes as fit", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 12 }), (some, columns) => {
      const kept = clipped(some, columns);
      assert.ok(some.startsWith(kept) && widthOf(kept) <= columns);
      const [next = ""] = graphemes(some.slice(kept.length));
      if (kept !== some) assert.ok(widthOf(kept + next) > columns);
    }),
  );
  assert.equal(clipped("a漢b", 2), "a");
});
