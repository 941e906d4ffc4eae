import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState } from "@cinch/core";
import { noActivity } from "../../src/app/activity.ts";
import { AskedPanels } from "../../src/app/asked-panels.ts";
import { screenParts } from "../../src/app/screen-parts.ts";
import { newUiState, type UiState } from "../../src/app/ui-state.ts";
import { widthOf } from "../../src/terminal/width.ts";
import { plainText } from "../text/shown.ts";

const display = newDisplayState("t");
const status = { branch: undefined, budget: undefined };

function notices(ui: Partial<UiState>, { columns, held = false }: { columns: number; held?: boolean }): string[] {
  const { notices: lines } = screenParts({
    display,
    size: { columns, rows: 24 },
    context: { width: columns, now: 0, unicode: true },
    asked: new AskedPanels(),
    activity: noActivity,
    composer: { isEmpty: true, completes: false, now: 0 },
    ui: { ...newUiState, ...ui },
    completions: { files: [], commands: [] },
    userCommand: null,
    status,
    held,
    hint: null,
  });
  const rows = lines.map(plainText);
  for (const row of rows) assert.ok(widthOf(row) < columns, `cut off at ${columns}: ${row}`);
  return rows;
}

const edited = { inputId: "i", before: newUiState.editor };
const output = (command: string) => ({ command, output: "", ending: null });

test("a notice that is wider than the screen is broken at words, and none of it is lost", () => {
  const notice = "There is no command /nosuch. /help lists them; a space before the slash sends the text.";
  for (let columns = 16; columns <= 100; columns++)
    assert.equal(notices({ notice }, { columns }).join(" "), notice, `at ${columns}`);
});

test("a word of a notice that is wider than the screen is continued in the next row", () => {
  const path = `/${"long/".repeat(20)}file.md`;
  const rows = notices({ notice: `${path} exists already. Give another name.` }, { columns: 40 });
  assert.equal(rows.join("").replaceAll(" ", ""), `${path}existsalready.Giveanothername.`);
});

test("what is said of queued inputs is broken at words", () => {
  const rows = notices({ edited }, { columns: 30, held: true });
  assert.equal(
    rows.join(" "),
    "Enter sends what is queued, Alt-Up edits it A queued input: Enter keeps it, empty removes it, Esc leaves it as it was",
  );
});

test("a long command is shortened where its output is announced, so that the end of the sentence stays", () => {
  const outputs = [output(`npm test -- ${"file ".repeat(40)}`), output("ls")];
  assert.deepEqual(notices({ outputs }, { columns: 80 }), [
    "+ the output of npm test -- file file file file fil… goes with the next message",
    "+ the output of ls goes with the next message",
  ]);
  for (let columns = 16; columns <= 100; columns++)
    assert.match(
      notices({ outputs }, { columns }).join(" "),
      /npm.*… goes with the next message \+ the output of ls goes/,
    );
});
