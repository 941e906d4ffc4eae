import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatch } from "diff";
import * as fc from "fast-check";
import { shownDiff, MAX_DIFF_BYTES, unifiedDiff } from "../../src/diffs/unified-diff.ts";

const diff = (before: string, after: string) => unifiedDiff({ path: "/f", text: before }, { path: "/f", text: after });
const numbers = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, at) => `line ${at + from}\n`).join("");
const counts = (unified: string) => {
  const lines = unified.split("\n").slice(2);
  return [lines.filter((line) => line.startsWith("+")).length, lines.filter((line) => line.startsWith("-")).length];
};

test("a diff names both files, and has three lines around each change", async () => {
  const before = numbers(30);
  const after = before.replace("line 2\n", "").replace("line 20\n", "line 20\nnew\n");
  assert.equal(
    await diff(before, after),
    "--- a/f\n+++ b/f\n@@ -1,5 +1,4 @@\n line 1\n-line 2\n line 3\n line 4\n line 5\n" +
      "@@ -18,6 +17,7 @@\n line 18\n line 19\n line 20\n+new\n line 21\n line 22\n line 23\n",
  );
});

test("a file that appears or disappears is compared with /dev/null", async () => {
  const [none, some] = [
    { path: null, text: "" },
    { path: "/f", text: "a\n" },
  ];
  assert.equal(await unifiedDiff(none, some), "--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+a\n");
  assert.equal(await unifiedDiff(some, none), "--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
});

test("a name with a line end does not look like a part of the diff", async () => {
  const [first] = (await unifiedDiff({ path: "/a\n+++ b", text: "" }, { path: "/f", text: "a" })).split("\n");
  assert.equal(first, '--- "a/a\\n+++ b"');
});

test("applying a diff to the first text gives the second", async () => {
  const line = fc.oneof(fc.constantFrom("a", "b b", "", "  d", "e\r"), fc.integer({ max: 30, min: 0 }).map(String));
  const lines = fc.array(line, { maxLength: 40, size: "max" });
  const text = fc.tuple(lines, fc.constantFrom("", "\n")).map(([some, end]) => some.join("\n") + end);
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const patch = await diff(before, after);
      assert.equal(applyPatch(before, patch, { autoConvertLineEndings: false }), after, patch);
    }),
    { numRuns: 500 },
  );
});

test("a line that moved, and lines that repeat, change no more than they must", async () => {
  assert.deepEqual(counts(await diff("a\nb\nc\nd\n", "b\nc\nd\na\n")), [1, 1]);
  assert.deepEqual(counts(await diff("{\n}\n{\n}\n", "{\n}\n{\n}\n{\n}\n")), [2, 0]);
  assert.deepEqual(counts(await diff("x\ny\nx\ny\n", "x\nx\ny\n")), [0, 1]);
});

test("a file of 50,000 lines with changes all over is compared line by line", async () => {
  const before = numbers(50_000);
  assert.deepEqual(counts(await diff(before, before.replaceAll("00\n", "00 changed\n"))), [500, 500]);
});

test("texts without a common line are replaced as a whole", async () => {
  assert.deepEqual(counts(await diff(numbers(20_000), numbers(20_000, 100_000))), [20_000, 20_000]);
});

test("a long diff ends at a line, and says how many lines are missing", async () => {
  const { diff: cut } = (await shownDiff("/f", null, numbers(10_000)))!;
  assert.ok(cut.length > 19_000 && cut.length <= 20_000, `${cut.length}`);
  const lines = cut.split("\n").slice(0, -1);
  const shown = lines.length - 4;
  assert.equal(lines.at(-2), `+line ${shown}`);
  assert.equal(lines.at(-1), `\\ ${10_000 - shown} more lines`);
});

test("a diff in which no line fits says so", async () => {
  assert.deepEqual(await shownDiff("/f", null, "x".repeat(30_000)), {
    diff: "--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n\\ 1 more lines\n",
  });
});

test("there is no diff of what is too large, or is not text", async () => {
  assert.equal(await shownDiff("/f", "x".repeat(MAX_DIFF_BYTES + 1), "x"), undefined);
  assert.equal(await shownDiff("/f", "x", "x".repeat(MAX_DIFF_BYTES + 1)), undefined);
  assert.equal(await shownDiff("/f", "x", "\0"), undefined);
});
