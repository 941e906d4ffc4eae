import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { widthOf } from "../../src/terminal/width.ts";
import { MarkdownStream } from "../../src/text/markdown.ts";
import { assertGolden, goldenSource } from "./golden.ts";
import { plainText, printed, styledText, WIDE_SCREEN } from "./shown.ts";

const answer = goldenSource("answer.md");
const shown = (source: string): string[] => printed([source]).map(plainText);

/** Texts made of what Markdown gives a meaning to. */
const markdown = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "# ",
        "- ",
        "1. ",
        "> ",
        "  ",
        "   ",
        "    ",
        "\t",
        "```",
        "```ts",
        "~~~",
        "---",
        "===",
        "| a | b |",
        "|---|---|",
      ),
      fc.constantFrom(
        "**b**",
        "*",
        "`c`",
        "[x](y)",
        "[r]: z",
        "<br>",
        "&lt;",
        "https://a.b",
        "漢字",
        "👨‍👩‍👧",
        "\u001b[31m",
        "\u001b]0;t",
      ),
      fc.constantFrom("word", " ", "\n", "\n", "\n\n", "\r\n"),
      fc.string({ maxLength: 4, size: "max" }),
    ),
    { maxLength: 40, size: "max" },
  )
  .map((parts) => parts.join(""));

function cut(source: string, places: number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (source.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...ends].map((start, index) => source.slice(start, ends[index] ?? source.length));
}

test("any split of a text prints the same lines as the whole text", () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.nat(400), { maxLength: 20, size: "max" }), (source, places) => {
      assert.deepEqual(printed(cut(source, places)), printed([source]));
    }),
    { numRuns: 500 },
  );
  assert.deepEqual(printed(answer.split("")), printed([answer]));
});

test("what was printed stays when the text goes on", () => {
  fc.assert(
    fc.property(markdown, markdown, (before, after) => {
      const finished = new MarkdownStream(WIDE_SCREEN).push(before);
      assert.deepEqual(printed([before + after]).slice(0, finished.length), finished);
    }),
    { numRuns: 300 },
  );
});

test("no control character reaches a line", () => {
  fc.assert(
    fc.property(markdown, (source) => {
      for (const line of printed([source])) assert.doesNotMatch(plainText(line), /\p{Cc}/u);
    }),
  );
});

test("an answer at 80, 40 and 20 columns", () => {
  for (const width of [80, 40, 20])
    assertGolden(`answer.${width}.txt`, printed([answer], { width, wrap: "words" }).map(plainText));
  assertGolden("answer.styled.txt", printed([answer]).map(styledText));
});

test("only a word that does not fit makes a line wider than the screen, and code", () => {
  for (const line of printed([answer], { width: 20, wrap: "words" }))
    assert.ok(line.wrap === "terminal" || widthOf(plainText(line)) <= 20, plainText(line));
});

test("a paragraph is one line if the terminal wraps", () => {
  const source = "one two ".repeat(30).trim();
  assert.deepEqual(printed([source], { width: 20, wrap: "terminal" }), [
    { spans: [{ text: source }], wrap: "terminal" },
  ]);
});

test("a block is printed when the next begins, and shown as live until then", () => {
  const stream = new MarkdownStream(WIDE_SCREEN);
  assert.deepEqual(stream.push("The **loop**\nstarts").map(plainText), []);
  assert.deepEqual(stream.live().map(plainText), ["The loop starts"]);
  assert.deepEqual(stream.push(" at 1\n\nNext").map(plainText), ["The loop starts at 1"]);
  assert.deepEqual(stream.live().map(plainText), ["", "Next"]);
  assert.deepEqual(stream.end().map(plainText), ["", "Next"]);
});

test("code is printed line by line, and only the open line is live", () => {
  const stream = new MarkdownStream(WIDE_SCREEN);
  assert.deepEqual(stream.push("```ts\nconst a = 1;\nconst b").map(plainText), ["const a = 1;"]);
  assert.deepEqual(stream.live().map(plainText), ["const b"]);
  assert.deepEqual(stream.push(" = 2;\n``").map(plainText), ["const b = 2;"]);
  assert.deepEqual(stream.live(), []);
});

test("list items are printed one by one, with their own numbers", () => {
  const stream = new MarkdownStream(WIDE_SCREEN);
  assert.deepEqual(stream.push("1. one\n1. two\n1. th").map(plainText), ["1. one"]);
  assert.deepEqual(stream.live().map(plainText), ["2. two", "3. th"]);
  assert.deepEqual(stream.push("ree\n1. four\n").map(plainText), ["2. two", "3. three"]);
  assert.deepEqual(shown("3. a\n4. b\n\ntext\n\n7. c"), ["3. a", "4. b", "", "text", "", "7. c"]);
});

test("code in a list is not indented, so that it copies whole", () => {
  assert.deepEqual(shown("- run\n  ```sh\n  npm test\n    x\n  ```\n  then go on\n- next"), [
    "- run",
    "npm test",
    "  x",
    "  then go on",
    "- next",
  ]);
});

test("a link is its text and its URL", () => {
  assert.deepEqual(shown("[docs](https://a.b/c) <https://d.e> https://f.g [](h) ![pic](i.png)"), [
    "docs (https://a.b/c) https://d.e https://f.g h pic (i.png)",
  ]);
});

test("a table that does not fit becomes records", () => {
  const table = "| name | meaning |\n|---|---|\n| a | the first letter of all |\n| b | second |";
  assert.deepEqual(printed([table], { width: 20, wrap: "words" }).map(plainText), [
    "name: a",
    "meaning: the first",
    "  letter of all",
    "",
    "name: b",
    "meaning: second",
  ]);
});

test("a year at the start of a line does not become a list", () => {
  assert.deepEqual(shown("It was in\n1986. A great year."), ["It was in 1986. A great year."]);
});
