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

test("a clock that is set back an hour does not keep the keys from a panel", () => {
  const HOUR = 3_600_000;
  const asked = new AskedPanels();
  const display = { ...newDisplayState("t"), pendingApprovals: { call: approval() } };
  const sync = (now: number) => asked.sync({ display, dialog: null, wrap: "words", transitionsTo: null, now });
  const y = { type: "text", text: "y" } as const;
  sync(2 * HOUR);
  asked.drawn(2 * HOUR);
  asked.press({ type: "text", text: "x" }, composer(2 * HOUR + 10));
  const now = HOUR + 10;
  sync(now);
  assert.equal(asked.hasKeys(composer(now)), false);
  const due = asked.keysDueAt(composer(now))!;
  assert.ok(due > now && due < now + 1_000, `the keys are due in ${due - now} ms`);
  assert.equal(asked.hasKeys(composer(now + 600)), true);
  assert.equal(asked.press(y, composer(now + 601)).to, "panel");
});
