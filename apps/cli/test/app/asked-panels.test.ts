import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState } from "@cinch/core";
import { AskedPanels } from "../../src/app/asked-panels.ts";
import { GUARD_MS } from "../../src/app/panel-focus.ts";
import { approval } from "../views/panel-stage.ts";
import { key } from "./pressing.ts";

/** A list that the user opened at 0 and that Enter closes at 1,000. */
function closedByEnter(): AskedPanels {
  const asked = new AskedPanels();
  const show = (dialog: number | null, now: number) =>
    asked.sync({ display: newDisplayState(null), dialog, wrap: "words", transitionsTo: null, now });
  show(1, 0);
  assert.deepEqual(asked.press(key("enter"), composer(1_000)), { to: "app" });
  show(null, 1_000);
  return asked;
}

const composer = (now: number, isEmpty = true) => ({ isEmpty, completes: false, now });

test("an Enter that is held when a list closes does not send the text that the list has put into the composer", () => {
  const asked = closedByEnter();
  assert.deepEqual(asked.press(key("enter"), composer(1_250, false)), { to: "nothing" });
  assert.deepEqual(asked.press(key("enter"), composer(1_299, false)), { to: "nothing" });
  assert.deepEqual(asked.press(key("enter"), composer(1_301, false)), { to: "app" });
});

test("an Enter after other keys is meant, however soon it comes", () => {
  const asked = closedByEnter();
  assert.deepEqual(asked.press({ type: "text", text: "x" }, composer(1_050)), { to: "app" });
  assert.deepEqual(asked.press(key("enter"), composer(1_100, false)), { to: "app" });
});

test("a key that came while a huge question was being drawn does not answer it", () => {
  const asked = new AskedPanels();
  const display = { ...newDisplayState("t"), pendingApprovals: { call: approval() } };
  const sync = (now: number) => asked.sync({ display, dialog: null, wrap: "words", transitionsTo: null, now });
  const y = { type: "text", text: "y" } as const;
  sync(0);
  asked.drawn(5_000);
  assert.deepEqual(asked.press(y, composer(5_001)), { to: "app" });
  sync(6_000);
  asked.drawn(6_000);
  assert.equal(asked.press(y, composer(6_000 + GUARD_MS)).to, "panel");
});
