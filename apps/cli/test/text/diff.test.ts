import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { diffBetween, diffCounts, diffHunks, diffLineList, inPieces, type DiffHunk } from "../../src/text/diff.ts";
import { plainText, styledText } from "./shown.ts";

const numbers = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, at) => `line ${at + from}\n`).join("");

test("a diff has line numbers, and the changed words are marked", async () => {
  const hunks = await diffBetween(
    "function sum(n) {\n  let s = 0;\n  for (let i = 1; i < n; i++) s += i;\n}\n",
    "function sum(n) {\n  let s = 0;\n  for (let i = 0; i < n; i++) s += i;\n}\n",
  );
  assert.deepEqual(diffCounts(hunks), { added: 1, removed: 1 });
  const lines = [...diffLineList(hunks)];
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
  assert.deepEqual([...diffLineList(await diffBetween(before, after))].map(plainText), [
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

/** Applies the hunks to a text. */
function applied(before: string[], hunks: DiffHunk[]): string[] {
  const after: string[] = [];
  let old = 0;
  for (const { oldStart, newStart, lines } of hunks) {
    after.push(...before.slice(old, oldStart - 1));
    assert.equal(after.length, newStart - 1);
    old = oldStart - 1;
    for (const line of lines) {
      if (!line.startsWith("+")) assert.equal(line.slice(1), before[old++]);
      if (!line.startsWith("-")) after.push(line.slice(1));
    }
  }
  return [...after, ...before.slice(old)];
}

test("applying a diff to the first text gives the second", async () => {
  const line = fc.oneof(fc.constantFrom("a", "b b", "", "  d"), fc.integer({ max: 30, min: 0 }).map(String));
  const content = fc.array(line, { maxLength: 40, size: "max" });
  await fc.assert(
    fc.asyncProperty(content, content, async (before, after) => {
      const side = (lines: string[]) => lines.map((one) => `${one}\n`).join("");
      assert.deepEqual(applied(before, await diffBetween(side(before), side(after))), after);
    }),
    { numRuns: 500 },
  );
});

test("a line that moved, and lines that repeat, change no more than they must", async () => {
  const counts = async (before: string, after: string) => diffCounts(await diffBetween(before, after));
  assert.deepEqual(await counts("a\nb\nc\nd\n", "b\nc\nd\na\n"), { added: 1, removed: 1 });
  assert.deepEqual(await counts("{\n}\n{\n}\n", "{\n}\n{\n}\n{\n}\n"), { added: 2, removed: 0 });
  assert.deepEqual(await counts("x\ny\nx\ny\n", "x\nx\ny\n"), { added: 0, removed: 1 });
  assert.deepEqual(await counts("same\n", "same"), { added: 0, removed: 0 });
});

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

test("a file of 50,000 lines with changes all over is compared line by line", async () => {
  const before = numbers(50_000);
  const after = before.replaceAll("00\n", "00 changed\n");
  const hunks = await diffBetween(before, after);
  assert.deepEqual(diffCounts(hunks), { added: 500, removed: 500 });
  assert.equal(hunks.length, 500);
});

test("texts without a common line are replaced as a whole", async () => {
  const hunks = await diffBetween(numbers(20_000), numbers(20_000, 100_000));
  assert.deepEqual(diffCounts(hunks), { added: 20_000, removed: 20_000 });
  assert.equal(hunks.length, 1);
});
