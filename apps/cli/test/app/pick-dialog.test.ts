import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { Dialogs } from "../../src/app/dialogs.ts";
import { pickFrom } from "../../src/app/pick-dialog.ts";
import { UiStore } from "../../src/app/ui-store.ts";
import type { KeyEvent } from "../../src/terminal/keys.ts";

const ITEMS = ["one", "two", "three"].map((label) => ({ value: label, label }));

/** A list whose previews the test ends, one after the other. */
async function opened() {
  const ui: UiStore = new UiStore((state, before) => {
    if (state.dialog !== before.dialog) dialogs.changed(state.dialog);
  });
  const dialogs = new Dialogs(ui);
  const previews: string[] = [];
  const ends: (() => void)[] = [];
  const preview = ({ label }: { label: string }) => {
    previews.push(label);
    return new Promise<[]>((resolve) => ends.push(() => resolve([])));
  };
  const picking = pickFrom(dialogs, { title: "Pick", items: ITEMS, preview });
  await nextTick();
  const press = (key: string) =>
    ui.update((state) => {
      const { panel, state: before } = state.dialog!;
      const step = panel.reduce(before, { type: "key", key } as KeyEvent);
      return step.kind === "state" ? { ...state, dialog: { ...state.dialog!, state: step.state } } : state;
    });
  const end = async () => {
    ends.shift()!();
    await nextTick();
  };
  const choose = (value: string) => {
    ui.update((state) => ({ ...state, dialog: null }));
    dialogs.chosen({ value });
  };
  return { picking, previews, press, end, choose };
}

test("a list that is closed while it loads a preview loads nothing more", async () => {
  const { picking, previews, end, choose } = await opened();
  assert.deepEqual(previews, ["one"]);
  choose("one");
  assert.equal(await picking, "one");
  await end();
  assert.deepEqual(previews, ["one"]);
});

test("a list loads one preview at a time, and not of what the user has passed meanwhile", async () => {
  const { previews, press, end } = await opened();
  press("down");
  press("down");
  assert.deepEqual(previews, ["one"]);
  await end();
  assert.deepEqual(previews, ["one", "three"]);
  await end();
  assert.deepEqual(previews, ["one", "three"]);
});
