import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { plain, PlainText, short } from "../../src/terminal/sanitise.ts";

test("escape sequences and control characters are removed, and text is kept", () => {
  const cases: [string, string][] = [
    ["\u001b[1;31mred\u001b[0m", "red"],
    ["\u009b2Jclear", "clear"],
    ["\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "alink"],
    ["\u0090dcs\u009cx\u001bPq\u001b\\y", "xy"],
    ["\u001b(Bz\u001bcq", "zq"],
    ["a\rb\u0008c\u0000\u007f\u0085d", "abcd"],
    ["tab\there\r\nline", "tab\there\nline"],
    ["\u001b]0;never ends\nstill here", "\nstill here"],
    ["\u001b[12äöü €🙂", "äöü €🙂"],
    ["abc\u202edef\u2066", "abcdef"],
  ];
  for (const [text, left] of cases) assert.equal(plain(text), left, JSON.stringify(text));
});

test("wherever a stream is split, the result is the same and has no control characters", () => {
  const unit = fc.oneof(
    fc.constantFrom("\u001b", "[", "]", "\u009b", "\u0007", "\\", "\n", "m", "1", ";"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(unit), (pieces) => {
      const stream = new PlainText();
      const left = pieces.map((piece) => stream.push(piece)).join("");
      assert.equal(left, plain(pieces.join("")));
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(left, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});

test("short returns one line, truncated to its length", () => {
  assert.equal(short(" a\n\tb \u001b[31mc "), "a b c");
  assert.equal(short("abcdef", 4), "abc…");
});
