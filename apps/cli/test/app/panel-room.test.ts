import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState, type HarnessDisplayState, type PendingApproval } from "@cinch/core";
import { noActivity } from "../../src/app/activity.ts";
import { AskedPanels } from "../../src/app/asked-panels.ts";
import { composeFrame } from "../../src/app/frame.ts";
import { GUARD_MS } from "../../src/app/panel-focus.ts";
import { screenParts } from "../../src/app/screen-parts.ts";
import { newUiState } from "../../src/app/ui-state.ts";
import { fitted } from "../../src/terminal/frame.ts";
import { plainText } from "../text/shown.ts";
import { approval } from "../views/panel-stage.ts";

const commandOf = (rows: number, name = "a"): string =>
  Array.from({ length: rows }, (_, at) => `echo ${name}${at + 1}`).join("\n");

const asking = (...commands: string[]): HarnessDisplayState => {
  const pending = commands.map((command, at): PendingApproval =>
    approval({ args: { command }, digest: command, toolCallId: `call ${at}`, at }),
  );
  return { ...newDisplayState("t"), pendingApprovals: Object.fromEntries(pending.map((one) => [one.toolCallId, one])) };
};

/** The panels of a thread on a screen, in which nothing else happens. */
class Stage {
  readonly #asked = new AskedPanels();
  now = 0;

  /** What a frame prints, and the rows of the screen below it. */
  frame(display: HarnessDisplayState, size: { columns: number; rows: number }, { isPrinted = false } = {}) {
    const asked = this.#asked;
    const { now } = this;
    asked.sync({ display, dialog: null, wrap: "words", transitionsTo: null, now });
    if (isPrinted) asked.othersPrinted();
    const { above, ...parts } = screenParts({
      display,
      size,
      context: { width: size.columns, now, unicode: true },
      asked,
      activity: noActivity,
      composer: { isEmpty: true, completes: false, now },
      ui: newUiState,
      completions: { files: [], commands: [] },
      userCommand: null,
      status: { branch: undefined, budget: undefined },
      held: false,
      hint: null,
    });
    const frame = composeFrame({ ...parts, print: above, transcript: [] }, size);
    return { printed: above.map(plainText), rows: fitted(frame, size).live.map(plainText), active: parts.panelHasKeys };
  }
}

test("on every screen, all of a command is in the panel or printed above it, also where others wait behind it", () => {
  for (let columns = 12; columns <= 60; columns += 12) {
    for (let rows = 3; rows <= 24; rows++) {
      for (let lines = 1; lines <= 12; lines++) {
        const command = commandOf(lines);
        const stage = new Stage();
        const display = asking(command, "echo b");
        const first = stage.frame(display, { columns, rows });
        stage.now += GUARD_MS;
        const { rows: shown, printed, active } = stage.frame(display, { columns, rows });
        assert.ok(active);
        const isThere = (row: string) => [...first.printed, ...printed, ...shown].includes(`│ ${row}`);
        const missing = command.split("\n").filter((row) => !isThere(row));
        assert.deepEqual(missing, [], `at ${columns} × ${rows}, of ${lines} lines:\n${shown.join("\n")}`);
      }
    }
  }
});

test("what is printed above a panel stands right above it: after other lines it is printed again", () => {
  const stage = new Stage();
  const size = { columns: 80, rows: 24 };
  const [one, two] = [commandOf(30, "a"), commandOf(30, "b")];
  const rowsOf = (command: string) => command.split("\n").map((row) => `│ ${row}`);
  assert.deepEqual(stage.frame(asking(one), size).printed, rowsOf(one));
  assert.deepEqual(stage.frame(asking(one), size).printed, []);
  assert.deepEqual(stage.frame(asking(one), size, { isPrinted: true }).printed, rowsOf(one));
  assert.deepEqual(stage.frame(asking(one), size).printed, []);
  assert.deepEqual(stage.frame(asking(two), size).printed, rowsOf(two));
  assert.deepEqual(stage.frame(asking(one), size).printed, rowsOf(one));
});
