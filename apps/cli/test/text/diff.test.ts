import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { diffBetween, diffCounts, diffHunks, diffLineList, inPieces } from "../../src/text/diff.ts";
import { plainText, styledText } from "./shown.ts";

const numbers = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, at) => `line ${at + from}\n`).join("");

test("a diff has line numbers, and the changed words are marked", async () => {
  const hunks = await diffBetween(
    "function sum(n) {\n  let s = 0;\n  for (let i = 1; i < n; i++) s += i;\n}\n",
    "function sum(n) {\n  let s = 0;\n  for (let i = 0; i < n; i++) s += i;\n}\n",
  );
  assert.deepEqual(diffCounts(hunks!), { added: 1, removed: 1 });
  const lines = [...diffLineList(hunks!)];
  assert.deepEqual(lines.map(plainText), [
    "  1   function sum(n) {",
    "  2     let s = 0;",
    "  3 -   for (let i = 1; i < n; i++) s += i;",
    "  3 +   for (let i = 0; i < n; i++) s += i;",
    "  4   }",
  ]);
  assert.equal(
    styledText(lines[2]!),
    "<dim>  3 </><red>- </><red>  for (let i = </><red inverse>1</><red>; i < n; i++) s += i;</>",
  );
});

test("hunks are separated, and numbers are aligned", async () => {
  const before = numbers(100);
  const after = before.replace("line 2\n", "").replace("line 99\n", "line 99\nnew\n");
  assert.deepEqual([...diffLineList((await diffBetween(before, after))!)].map(plainText), [
    "    1   line 1",
    "    2 - line 2",
    "    2   line 3",
    "    3   line 4",
    "    4   line 5",
    "      ⋮",
    "   96   line 97",
    "   97   line 98",
    "   98   line 99",
    "   99 + new",
    "  100   line 100",
  ]);
});

test("a unified diff reads as the hunks it was made from", () => {
  const unified =
    "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n\\ No newline at end of file\n@@ -9 +9 @@ function f() {\n-a\n+b\n";
  assert.deepEqual(diffHunks(unified), [
    { oldStart: 1, newStart: 1, lines: ["-old", "+new", " same", "\\ No newline at end of file"] },
    { oldStart: 9, newStart: 9, lines: ["-a", "+b"] },
  ]);
  assert.deepEqual([...diffLineList(diffHunks(unified))].map(plainText), [
    "   1 - old",
    "   1 + new",
    "   2   same",
    "     ⋮",
    "   9 - a",
    "   9 + b",
  ]);
});

test("any text is read as a diff without an error", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("@@ -1 +1 @@\n", "+", "-", " ", "\\", "\n", "a", "\u001b[2J") }),
      (unified) => {
        for (const line of diffLineList(diffHunks(unified))) assert.doesNotMatch(plainText(line), /\p{Cc}/u);
      },
    ),
  );
});

test("the lines of a diff give both texts back", async () => {
  const content = fc.array(fc.constantFrom("a", "b b", "c c c", "", "  d"), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(content, content, async (before, after) => {
      const side = (lines: string[]) => (lines.length === 0 ? "" : `${lines.join("\n")}\n`);
      const hunks = (await diffBetween(side(before), side(after)))!;
      const shown = [...diffLineList(hunks)]
        .filter((line) => line.wrap !== "none")
        .map((line) => plainText(line).slice(MARGIN + digits(hunks)));
      const changes = (all: string[], sign: string) =>
        all.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
      const source = hunks.flatMap((hunk) => hunk.lines);
      for (const sign of ["+", "-"])
        assert.deepEqual(
          changes(shown, sign).map((line) => line.slice(1)),
          changes(source, sign),
        );
    }),
  );
});

const MARGIN = 3;
const digits = (hunks: { oldStart: number; newStart: number; lines: string[] }[]): number => {
  const last = hunks.at(-1);
  return last ? String(Math.max(last.oldStart, last.newStart) + last.lines.length).length : 1;
};

test("50,000 changed lines come in pieces, and other work runs between them", async () => {
  const lines = Array.from({ length: 50_000 }, (_, at) =>
    at % 2 === 0 ? `-const value${at} = ${at};` : `+const value${at} = 0;`,
  );
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  let pieces = 0;
  let count = 0;
  for await (const piece of inPieces(diffLineList([{ oldStart: 1, newStart: 1, lines }]))) {
    pieces++;
    count += piece.length;
  }
  clearInterval(timer);
  assert.equal(count, 50_000);
  assert.ok(pieces > 5);
  assert.ok(turns > 3, "the event loop was never free");
});

test("texts that are too different give no diff, and do not take long", async () => {
  const before = numbers(20_000);
  const after = numbers(20_000, 100_000);
  const started = performance.now();
  assert.equal(await diffBetween(before, after), undefined);
  assert.ok(performance.now() - started < 20_000);
});
