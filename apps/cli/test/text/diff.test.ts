import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { diffCounts, diffHunks, diffLineList, inPieces } from "../../src/text/diff.ts";
import { plainText, styledText } from "./shown.ts";

test("a diff has line numbers, and the changed words are marked", () => {
  const hunks = diffHunks(`@@ -1,4 +1,4 @@
 function sum(n) {
   let s = 0;
-  for (let i = 1; i < n; i++) s += i;
+  for (let i = 0; i < n; i++) s += i;
 }
`);
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

test("hunks are separated, and numbers are aligned", () => {
  const hunks = diffHunks(`@@ -1,5 +1,4 @@
 line 1
-line 2
 line 3
 line 4
 line 5
@@ -97,4 +96,5 @@
 line 97
 line 98
 line 99
+new
 line 100
`);
  assert.deepEqual([...diffLineList(hunks)].map(plainText), [
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
