import assert from "node:assert/strict";
import { test } from "node:test";
import type { PickList } from "../../src/app/commands/command.ts";
import { line } from "../../src/terminal/line.ts";
import { toAscii } from "../../src/terminal/ascii.ts";
import { widthOf } from "../../src/terminal/width.ts";
import { approvalPanel, approvalState } from "../../src/views/approval.ts";
import { approvalIsLong, approvalLines } from "../../src/views/approval-content.ts";
import type { Panel, PanelContext, PanelView } from "../../src/views/panel.ts";
import { pickerPanel, pickerPreviewed, pickerState, pickerWants } from "../../src/views/picker.ts";
import { planLines, planPanel, planState } from "../../src/views/plan.ts";
import { questionPanel, questionState } from "../../src/views/question.ts";
import { suspensionPanel, suspensionState } from "../../src/views/suspension.ts";
import { textFieldPanel, textFieldState } from "../../src/views/text-field.ts";
import { plainText, styledText } from "../text/shown.ts";
import { approval, assertGoldenPanels, key, room, stateAfter, suspension, typed } from "./panel-stage.ts";

const diff =
  "--- a/src/sum.ts\n+++ b/src/sum.ts\n@@ -12,2 +12,2 @@\n-  for (let i = 1; i < n; i++)\n+  for (let i = 0; i < n; i++)\n   s += i;\n";

const threads: PickList<string> = {
  title: "Threads",
  items: [
    { value: "1", label: "fix the sum", details: ["running", "2 min", "12 messages"] },
    { value: "2", label: "release notes", details: ["asks you", "1 h", "40 messages"] },
  ],
};
const checkpoints: PickList<{ seq: number; files: boolean }> = {
  title: "Rewind",
  items: [
    { value: { seq: 9, files: true }, label: "fix the test", details: ["2 min", "3 files"] },
    {
      value: { seq: 4, files: true },
      label: "why does it fail when the list is empty?",
      details: ["9 min", "no files"],
    },
  ],
  ways: [
    { key: "b", label: "both", value: (chosen) => chosen },
    { key: "c", label: "conversation", value: (chosen) => ({ ...chosen, files: false }) },
  ],
  preview: () => Promise.resolve([]),
};

const bound =
  <S, C>(panel: Panel<S, C>, state: S) =>
  (context: PanelContext): PanelView =>
    panel.view(state, context);

function rewind() {
  const state = stateAfter(pickerPanel<{ seq: number; files: boolean }>(), pickerState(checkpoints), typed("c"));
  const { preview } = pickerWants(state);
  const lines = [line("src/sum.ts -1 +1 · notes.md CHANGED SINCE: kept")];
  return pickerPreviewed(state, { key: preview!.key, lines });
}

const database = suspension({
  question: "Which database?",
  options: [{ label: "sqlite", description: "one file" }, { label: "postgres" }],
  multiple: false,
});
const targets = suspension({
  question: "Which platforms should the release be built for?\nThe CI has runners for all of them.",
  options: [{ label: "linux", description: "x64 and arm64, as a static binary" }, { label: "macOS" }],
  multiple: true,
});

/** Every panel, in the states that a user sees. */
const panels: Record<string, (context: PanelContext) => PanelView> = {
  "a command": bound(approvalPanel, approvalState(approval())),
  "a command that a skill does not list": bound(approvalPanel, approvalState(approval({ skill: "git-release" }))),
  "a command with options": bound(
    approvalPanel,
    approvalState(approval({ args: { command: "make\nmake install", cwd: "lib", background: true }, path: [] })),
  ),
  "a change": bound(
    approvalPanel,
    stateAfter(
      approvalPanel,
      approvalState(
        approval({
          toolName: "edit_file",
          category: "edit",
          args: { file_path: "src/sum.ts", old_string: "1", new_string: "0" },
          suggestion: null,
          preview: { diff },
        }),
      ),
      [key("right")],
    ),
  ),
  "a call": bound(
    approvalPanel,
    approvalState(
      approval({
        toolName: "mcp_mail_send",
        category: "mcp",
        args: { to: "a@example.com", body: "two\nlines" },
        suggestion: null,
        decisions: ["approve", "decline"],
      }),
    ),
  ),
  "a reason": bound(
    approvalPanel,
    stateAfter(approvalPanel, approvalState(approval()), typed("ruse the other script")),
  ),
  "a question": bound(questionPanel, questionState(database)),
  "a question with several answers": bound(
    questionPanel,
    stateAfter(questionPanel, questionState(targets), [...typed(" "), key("down")]),
  ),
  "a question without options": bound(
    questionPanel,
    stateAfter(
      questionPanel,
      questionState(suspension({ question: "Why?", options: null, multiple: false })),
      typed("be"),
    ),
  ),
  "a plan": bound(
    planPanel,
    planState(suspension({ title: "Sum", plan: "1. fix" }, "submit_plan"), { transitionsTo: "build" }),
  ),
  "a tool of the user's own": bound(suspensionPanel, suspensionState(suspension({ amount: 3 }, "pay"))),
  "a list": bound(pickerPanel<string>(), pickerState(threads)),
  "a search": bound(pickerPanel<string>(), stateAfter(pickerPanel<string>(), pickerState(threads), typed("rel"))),
  "a list with ways": bound(pickerPanel<{ seq: number; files: boolean }>(), rewind()),
  "a key": bound(
    textFieldPanel,
    stateAfter(textFieldPanel, textFieldState({ title: "Key for anthropic", hidden: true }), typed("sk-1")),
  ),
};

const all = (context: PanelContext): string[] =>
  Object.entries(panels).flatMap(([name, view]) => [`# ${name}`, ...view(context).lines.map(plainText)]);

for (const width of [80, 40, 20])
  test(`the panels at ${width} columns`, () => assertGoldenPanels(`panels.${width}.txt`, all(room(width))));

test("the panels with their styles", () =>
  assertGoldenPanels(
    "panels.styled.txt",
    Object.entries(panels).flatMap(([name, view]) => [`# ${name}`, ...view(room(80)).lines.map(styledText)]),
  ));

test("a panel that waits for the keys marks no choice", () => {
  for (const [name, view] of Object.entries(panels)) {
    const rows = view({ ...room(80), active: false }).lines.map(plainText);
    assert.deepEqual(
      rows.filter((row) => row.startsWith("›")),
      [],
      name,
    );
  }
});

test("without Unicode the signs of every panel have similar ones", () => {
  for (const view of Object.values(panels))
    for (const row of view({ ...room(80), unicode: false }).lines) assert.match(toAscii(plainText(row)), /^[ -~]*$/);
});

test("on any screen a panel takes at most its rows and columns, at least one row, and the cursor is in it", () => {
  for (const [name, view] of Object.entries(panels))
    for (const width of [1, 2, 3, 5, 9, 20, 40, 80])
      for (const rows of [1, 2, 3, 4, 5, 10, 24]) {
        const { lines, cursor } = view(room(width, rows));
        const where = `${name} at ${width} × ${rows}`;
        assert.ok(lines.length >= 1 && lines.length <= rows, where);
        if (width >= 20)
          for (const row of lines) assert.ok(widthOf(plainText(row)) < width, `${where}: ${plainText(row)}`);
        if (!cursor) continue;
        assert.ok(cursor.row >= 0 && cursor.row < lines.length, where);
        assert.ok(cursor.column >= 0 && cursor.column <= Math.max(0, width - 1), where);
      }
});

test("the marked choice is shown on the smallest screen", () => {
  for (const [steps, label] of ["approve", "decline", "with a reason", "edit"].entries()) {
    const state = stateAfter(
      approvalPanel,
      approvalState(approval()),
      Array.from({ length: steps }, () => key("down")),
    );
    const rows = approvalPanel.view(state, room(20, 1)).lines.map(plainText);
    assert.match(rows.join("\n"), new RegExp(`› . ${label}`));
  }
});

test("what does not fit in half of the panel is printed above it, whole", () => {
  const long = approval({ args: { command: Array.from({ length: 30 }, (_, at) => `echo ${at}`).join("\n") } });
  const context = room(80, 18);
  assert.equal(approvalIsLong(long, context), true);
  assert.equal(approvalIsLong(approval(), context), false);
  const rows = approvalPanel.view(approvalState(long), context).lines.map(plainText);
  assert.equal(rows[1], "30 lines above");
  assert.equal(
    rows.some((row) => row.includes("echo")),
    false,
  );
  assert.deepEqual(
    approvalLines(long, context).map(plainText),
    Array.from({ length: 30 }, (_, at) => `│ echo ${at}`),
  );
});

test("a plan is printed whole", () => {
  const payload = { title: "Sum", plan: "# Steps\n\n1. fix\n2. test\n" };
  assert.deepEqual(planLines(payload, { width: 80, wrap: "words" }).map(plainText), [
    "Sum",
    "",
    "Steps",
    "",
    "1. fix",
    "2. test",
  ]);
});
