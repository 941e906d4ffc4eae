import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { exportAs } from "../../src/export/index.ts";
import { markdownHtml } from "../../src/export/markdown-html.ts";
import { threadFull } from "./thread.ts";

/** Each tag that our own code or the Markdown renderer writes, with its attributes. */
const TAGS = new RegExp(
  [
    String.raw`<!doctype html>`,
    String.raw`<html lang="en">`,
    String.raw`<meta [a-zA-Z0-9="'; ,:/.-]*>`,
    String.raw`<(section|div|p|pre) class="[a-z ]+">`,
    String.raw`<a href="(https?|mailto):[^"<>]*" rel="noreferrer">`,
    String.raw`<(td|th) align="(left|right|center)">`,
    String.raw`<ol start="\d+">`,
    String.raw`<input (checked="" )?disabled="" type="checkbox">`,
    String.raw`<\/?(html|head|title|style|body|header|main|section|div|details|summary|time|b|ins|del)>`,
    String.raw`<\/?(h[1-6]|p|pre|code|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|strong|em|a)>`,
    String.raw`<(br|hr)>`,
  ].join("|"),
  "g",
);

const pieces = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<style>*{}</style>",
  "</pre></code></section>",
  "<!--",
  "-->",
  "<![CDATA[",
  "<pre>",
  "<a href='javascript:alert(1)'>",
  "[x](javascript:alert(1))",
  "[x](java\u0000script:alert(1))",
  "[x](JaVaScRiPt&colon;alert(1))",
  "[x](data:text/html,<script>)",
  '[x](https://a.example/"onmouseover="alert(1))',
  '[x](<https://a.example/\'"> "t\\" onclick=x")',
  "![x](https://a.example/x.png)",
  '![x"onerror="alert(1)](x)',
  "<https://a.example/<b>>",
  "[x]: javascript:alert(1)",
  "[x]",
  "```<b>\n",
  "```html\n",
  "`<b>`",
  "~~~\n",
  "| a | <b> |\n|---|:-:|\n| <i> | ` |\n",
  "- [ ] <u>\n",
  "> ",
  "# ",
  "\n",
  "\n\n",
  "    ",
  "&lt;b&gt;",
  "&#60;b&#62;",
  "\\<b\\>",
  "*",
  "**",
  "_",
  "~~",
  '"',
  "'",
  "text",
];

const isSafe = (html: string): boolean => !/[<>]/.test(html.replace(TAGS, ""));

test("whatever Markdown a model writes, the page has only tags that we wrote", () => {
  const sources = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 25, size: "max" });
  fc.assert(
    fc.property(sources, (some) => assert.ok(isSafe(markdownHtml(some.join(""))), markdownHtml(some.join("")))),
    { numRuns: 1_000 },
  );
});

test("no text of a thread becomes a tag, wherever it stands", () => {
  const { length } = pieces.filter((piece) => {
    const html = exportAs("html", threadFull(`${piece}${pieces.join("")}`));
    return !isSafe(html.replace(/<style>[^]*?<\/style>/, ""));
  });
  assert.equal(length, 0);
});

test("text that is slow to parse is shown as it was written, and what follows it as Markdown", () => {
  const slow = {
    "nested quotes": `${">".repeat(5_000)} <b>x`,
    "a long line": "a <b> ".repeat(20_000),
    "open brackets": `<b>${"[".repeat(60_000)}`,
    stars: `<b>${"*a ".repeat(20_000)}`,
    "an endless address": `<b> ${"a".repeat(60_000)}@`,
  };
  for (const [name, source] of Object.entries(slow)) {
    const html = markdownHtml(`${source}\n\n*end*`);
    assert.ok(isSafe(html), name);
    assert.match(html, /&lt;b&gt;/, name);
    assert.match(html, /<p><em>end<\/em><\/p>\n$/, name);
  }
});
