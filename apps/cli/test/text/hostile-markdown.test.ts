import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_BLOCK } from "../../src/text/blocks.ts";
import { MarkdownStream } from "../../src/text/markdown.ts";
import { plainText, printed, WIDE_SCREEN } from "./shown.ts";

/** Only the letters: hostile texts are shown as they are, or with fewer marks. */
const letters = (source: string): number => source.replace(/[^a-z]/g, "").length;
const MEGABYTE = 1024 * 1024;

const hostile: Record<string, string> = {
  "2,000 nested quotes": `${"> ".repeat(2_000)}x`,
  "2,000 nested quotes without spaces": `${">".repeat(2_000)}x`,
  "quotes that nest deeper in each line": Array.from({ length: 500 }, (_, depth) => `${">".repeat(depth + 1)} x`).join(
    "\n",
  ),
  "2,000 nested items": `${"- ".repeat(2_000)}x`,
  "items that nest deeper in each line": Array.from({ length: 500 }, (_, depth) => `${"  ".repeat(depth)}- x`).join(
    "\n",
  ),
  "a line of a megabyte": "x".repeat(MEGABYTE),
  "a line of a megabyte in words": "word ".repeat(MEGABYTE / 5),
  "a line of a megabyte of code": `\`\`\`ts\n${"a(".repeat(MEGABYTE / 2)}`,
  "an unclosed fence": `\`\`\`js\n${"const a = `\n".repeat(2_000)}`,
  "an unclosed comment in code": `\`\`\`js\n/*\n${"text\n".repeat(2_000)}`,
  "an unclosed code span": `\`${"y ".repeat(20_000)}`,
  stars: "*a ".repeat(20_000),
  "open brackets": "[".repeat(60_000),
  "open links": "[a](".repeat(15_000),
  "open images": "![".repeat(30_000),
  "open tags": '<a b="'.repeat(10_000),
  "an endless address": `${"a".repeat(60_000)}@`,
  "many long addresses": `${"a".repeat(1_900)}@ `.repeat(30),
  "backticks of growing length": Array.from({ length: 300 }, (_, length) => "`".repeat(length)).join(" "),
  "a wide table": [`${"|a".repeat(5_000)}`, `${"|-".repeat(5_000)}`, `${"|x".repeat(5_000)}`].join("\n"),
  "a long table": `|a|b|\n|-|-|\n${"|x|y|\n".repeat(10_000)}`,
  "a paragraph over the limit": "some words\n".repeat(MAX_BLOCK / 5),
  "a list item over the limit": `- item\n${"  words\n\n".repeat(MAX_BLOCK / 5)}`,
  escapes: "\\".repeat(60_000),
};

for (const [name, source] of Object.entries(hostile)) {
  test(`${name}: printed without an error, in a moment, and nothing is lost`, () => {
    const started = performance.now();
    const stream = new MarkdownStream(WIDE_SCREEN);
    const lines = stream.push(source);
    const live = stream.live();
    lines.push(...stream.end());
    assert.ok(performance.now() - started < 10_000);
    assert.ok(live.length < 1_000, "what is redrawn for each frame is bounded");
    const expected = letters(source) - (source.startsWith("```") ? 2 : 0);
    assert.ok(letters(lines.map(plainText).join("")) >= Math.min(expected, letters(source)));
  });
}

test("a block over the limit is shown as text, and what follows as Markdown again", () => {
  const lines = printed([`${"**a** b\n".repeat(MAX_BLOCK / 8 + 10)}\n**c**`]).map(plainText);
  assert.equal(lines[0], "**a** b");
  assert.equal(lines.at(-1), "c");
});

test("a block that would take long to read is shown as it was written", () => {
  const slow = {
    "an endless word": `**a** ${"a".repeat(10_000)}@`,
    "many delimiters": `**a** ${"*b ".repeat(2_000)}`,
    "many cells": `|**a**|\n|-|\n|${"b|".repeat(10_000)}`,
    "deep quotes": `${">".repeat(100)} **a**`,
    "deep items": `${"- ".repeat(100)} **a**`,
    "deep indentation": `- b\n${" ".repeat(200)}- **a**`,
  };
  for (const [name, source] of Object.entries(slow))
    assert.match(printed([source]).map(plainText).join("\n"), /\*\*a\*\*/, name);
  assert.deepEqual(printed(["> > **a**"]).map(plainText), ["> > a"]);
});

test("a block over the limit prints the same lines however it is split", () => {
  const source = `- item\n${"  words **b**\n\n".repeat(6_000)}\nend`;
  assert.deepEqual(printed(source.match(/[^]{1,4001}/g)!), printed([source]));
});
