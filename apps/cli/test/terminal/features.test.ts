import assert from "node:assert/strict";
import { test } from "node:test";
import { featuresOf } from "../../src/terminal/features.ts";

test("the environment says what a terminal can show", () => {
  assert.deepEqual(featuresOf({ TERM: "xterm-256color", LANG: "en_US.UTF-8" }), {
    colors: true,
    unicode: true,
    reflow: true,
  });
  assert.equal(featuresOf({ NO_COLOR: "1" }).colors, false);
  assert.equal(featuresOf({ NO_COLOR: "" }).colors, true);
});

test("a locale without UTF-8 is respected; LC_ALL decides before LC_CTYPE and LANG", () => {
  assert.equal(featuresOf({ LANG: "C" }).unicode, false);
  assert.equal(featuresOf({ LANG: "de_DE.ISO-8859-1" }).unicode, false);
  assert.equal(featuresOf({ LANG: "C", LC_CTYPE: "C.utf8" }).unicode, true);
  assert.equal(featuresOf({ LC_ALL: "POSIX", LANG: "en_US.UTF-8" }).unicode, false);
  assert.equal(featuresOf({}).unicode, true);
});

test("xterm, screen, rxvt and the Linux console do not break their lines anew", () => {
  for (const env of [{ XTERM_VERSION: "XTerm(390)" }, { STY: "1.x" }, { TERM: "linux" }, { TERM: "rxvt-unicode" }])
    assert.equal(featuresOf(env).reflow, false);
  assert.equal(featuresOf({ TERM: "screen-256color", TMUX: "/tmp/x", XTERM_VERSION: "XTerm(390)" }).reflow, true);
});
