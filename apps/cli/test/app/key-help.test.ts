import assert from "node:assert/strict";
import { test } from "node:test";
import { keyHelp } from "../../src/app/key-help.ts";
import { keymapOf } from "../../src/app/keymap.ts";

const actionOf = (keys: string, map = keymapOf()): string | undefined =>
  keyHelp(map).find((one) => one.keys === keys)?.action;

test("the help on keys has the keys of the app and of the composer", () => {
  assert.equal(actionOf("Ctrl-T"), "whole thread, everything unfolded");
  assert.equal(actionOf("Esc"), "stop the turn, close a list; twice at rest: rewind");
  assert.equal(actionOf("Shift-Enter, Ctrl-J"), "new line");
});

test("a key that the user chose is shown with its action, and not with the one that it had", () => {
  const map = keymapOf({ pager: "ctrl-k" });
  assert.equal(actionOf("Ctrl-K", map), "whole thread, everything unfolded");
  assert.equal(actionOf("Ctrl-T", map), undefined);
});
