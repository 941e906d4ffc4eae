import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFrontmatter } from "@cinch/memory";

test("a Markdown file gives its texts, its lists and what stands below them", () => {
  const text = '---\nname: reviewer\ntools: [read_file, grep]\nalso:\n  - one\n  - "two: three"\n---\n\nReview it.\n';
  assert.deepEqual(parseFrontmatter(text), {
    values: { name: "reviewer", tools: ["read_file", "grep"], also: ["one", "two: three"] },
    lines: { name: 2, tools: 3, also: 4 },
    body: "Review it.",
  });
});

test("a file without frontmatter, or with a mistake in it, gives the line and what to do", () => {
  const problems = ["Review it.", "---\nname: a", "---\nname:a\n---\n", "---\nname: a\nname: b\n---\n"].map((text) => {
    const parsed = parseFrontmatter(text);
    return "problem" in parsed ? parsed.problem.line : null;
  });
  assert.deepEqual(problems, [1, 2, 2, 3]);
});
