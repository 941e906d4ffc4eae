import assert from "node:assert/strict";
import { test } from "node:test";
import { commandMatcher } from "@cinch/workspace";

test("a line that is too long, too deep or hostile to the parser counts as unknown, at once", async () => {
  const { matches, suggest } = await commandMatcher();
  const deep = (open: string, close: string) => open.repeat(1_000) + "ls" + close.repeat(1_000);
  const lines = [
    `ls ${"x".repeat(100_000)}`,
    deep("(", ")"),
    deep("$(", ")"),
    deep('"$(', ')"'),
    deep("{ ", "; }"),
    `${"sudo ".repeat(1_500)}ls`,
    `${"strace ".repeat(1_500)}ls`,
    "ls|".repeat(3_000),
    "<<a\n".repeat(2_000),
  ];
  for (const line of lines) {
    assert.equal(matches("git push *", line), "some", line.slice(0, 20));
    assert.equal(suggest(line), undefined);
  }
  assert.equal(matches("git push *", "git push"), "all");
});

test("a word with thousands of braces is parsed at once", async () => {
  const { matches } = await commandMatcher();
  const before = performance.now();
  assert.equal(matches("git push *", `ls ${"{,".repeat(2_400)}`), "none");
  assert.ok(performance.now() - before < 10_000, "the process stood still for seconds");
});
