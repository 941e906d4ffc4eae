import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Highlighter } from "../../src/text/highlight.ts";
import { plainText, styledText } from "./shown.ts";

const styled = (language: string, code: string[]): string[] => {
  const highlighter = new Highlighter(language);
  return code.map((line) => styledText({ spans: highlighter.line(line) }));
};

test("a line is highlighted in the context of those before it", () => {
  assert.deepEqual(styled("ts", ["/* a", "const b", "*/ let c = `x", "y`;"]), [
    "<dim>/* a</>",
    "<dim>const b</>",
    "<dim>*/</> <magenta>let</> c = <green>`x</>",
    "<green>y`</>;",
  ]);
});

test("no character of the code is lost, in any language", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("ts", "python", "html", "bash", "json", "php", "no-such-language", ""),
      fc.array(
        fc.string({ unit: fc.constantFrom("a", " ", "<", "&", '"', "'", "/", "*", "`", "{", "}", "#", "漢", "1") }),
      ),
      (language, code) => {
        const highlighter = new Highlighter(language);
        for (const line of code) assert.equal(plainText({ spans: highlighter.line(line) }), line);
      },
    ),
  );
});

test("a language is known by its usual names", () => {
  const known = [
    "TypeScript",
    "tsx",
    "js",
    "py",
    "sh",
    "yml",
    "html",
    "c++",
    "rs",
    "toml",
    "json title=a.json",
    "ts{1,3}",
  ];
  for (const name of known) {
    const [line = ""] = styled(name, ['x = "a" <b c="d"> { "k": "v" }']);
    assert.match(line, /<[a-z]+>/, name);
  }
});

test("a name that is no language gives plain code, whatever it contains", () => {
  for (const name of ["", "../../core", "javascript.js", "__proto__", "constructor", "a".repeat(10_000), "x\u0000y"])
    assert.deepEqual(styled(name, ["const a = 1"]), ["const a = 1"]);
});
