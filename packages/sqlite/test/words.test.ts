import assert from "node:assert/strict";
import { test } from "node:test";
import { queryWords, wordsOf } from "@cinch/core/store";
import { searchTerms, searchWords, textPieces } from "../src/words.ts";

const fill = (unit: (at: number) => string, chars = 300_000): string => {
  const parts: string[] = [];
  for (let at = 0, length = 0; length < chars; at++) length += parts[parts.push(unit(at)) - 1]!.length;
  return parts.join("");
};

const texts = {
  words: fill((at) => `word${at} `),
  "minified code": fill((at) => `a${at}.b(${at},"Grüße");`),
  Chinese: fill((at) => `在东京见面${at}`),
  "combining marks": fill((at) => `e\u0301te\u0301${at} `),
  Korean: fill(() => "한국어를 "),
  "letters outside the basic plane": fill((at) => `𒀀𒀁${at} 𝐀𝐁 `),
  "one word": "x".repeat(300_000),
  "lone surrogates": fill((at) => `\ud800a${at}\udc00`),
  "more than four million characters": fill((at) => `w${at} `, 4_500_000),
};

test("a text has the same words whole and in pieces, and the same as in core", () => {
  for (const [name, text] of Object.entries(texts)) {
    const pieces = [...textPieces(text)];
    assert.ok(pieces.length > 1 || name === "one word", name);
    const words = new Set(pieces.flatMap(searchWords));
    assert.deepEqual(words, new Set(wordsOf(text)), name);
    assert.deepEqual(searchTerms(text), queryWords(text), name);
  }
});
