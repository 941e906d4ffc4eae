import assert from "node:assert/strict";
import { test } from "node:test";
import { codeBlocks } from "../../src/text/code-blocks.ts";

test("code is copied as it was written: tabs, trailing spaces, carriage returns and sequences stay", () => {
  const makefile = "all:\n\tcc  x.c \r\n\n\u001b[31mend";
  assert.deepEqual(codeBlocks(`Before.\n\n\`\`\`make\n${makefile}\n\`\`\`\nAfter.`), [makefile]);
});

test("the indentation of a fence in a list is not a part of the code", () => {
  assert.deepEqual(codeBlocks("1. Do:\n\n   ```sh\n   if x; then\n     y\n   fi\n   ```\n"), ["if x; then\n  y\nfi"]);
});

test("a shorter fence in a block is code, and a block that is not closed ends with the text", () => {
  assert.deepEqual(codeBlocks("````md\n```js\n1\n```\n````\n\n~~~\nlast"), ["```js\n1\n```", "last"]);
  assert.deepEqual(codeBlocks("no `code` here\n\n    indented"), []);
});
