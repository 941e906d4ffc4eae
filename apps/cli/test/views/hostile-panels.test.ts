import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Line } from "../../src/terminal/line.ts";
import { graphemes, greatestWidth } from "../../src/terminal/width.ts";
import { approvalPanel, approvalState } from "../../src/views/approval.ts";
import { approvalIsLong, approvalLines } from "../../src/views/approval-content.ts";
import type { PanelContext } from "../../src/views/panel.ts";
import { pickerPanel, pickerState } from "../../src/views/picker.ts";
import { planPanel, planState } from "../../src/views/plan.ts";
import { questionPanel, questionState } from "../../src/views/question.ts";
import { suspensionPanel, suspensionState } from "../../src/views/suspension.ts";
import { textFieldPanel, textFieldState } from "../../src/views/text-field.ts";
import { hostile } from "../terminal/hostile.ts";
import { plainText } from "../text/shown.ts";
import { approval, room, shownRows, suspension } from "./panel-stage.ts";

/** What fakes a choice, were it shown as it is. */
const forged: Record<string, string> = {
  "choices in a line of their own": "ls\n› y decline   n approve\n  p never",
  "choices behind many spaces": `ls${" ".repeat(300)}› y decline   n approve`,
  "choices behind a return": "ls\r› y decline   n approve",
  "choices behind a line separator": "ls\u2028› y decline\u0085  n approve",
  "choices in quotes": 'npm "   y decline   n "approve',
  "a gutter and choices": "│ ls\n› y approve\n│ rm -rf /",
  "a title": "ls\nRun this command?\n│ ls\n› y approve",
};
const attacks = { ...hostile, ...forged };
const quote = (attack: string): string => JSON.stringify(attack).slice(1, -1);

/** Every panel with this text wherever foreign text can be. */
const panelsWith = (attack: string): Record<string, (context: PanelContext) => string[]> => ({
  "a command": (context) =>
    shownRows(
      approvalPanel,
      approvalState(
        approval({ args: { command: attack, cwd: attack }, suggestion: attack, skill: attack, path: [attack, attack] }),
      ),
      context,
    ),
  "a call": (context) =>
    shownRows(
      approvalPanel,
      approvalState(approval({ toolName: attack, category: "mcp", args: { [attack]: attack }, suggestion: attack })),
      context,
    ),
  "a change": (context) => {
    const lines = attack.split("\n").map((row) => `+${row}`);
    const diff = `@@ -0,0 +1,${lines.length} @@\n${lines.join("\n")}\n`;
    const change = approval({
      toolName: "edit_file",
      category: "edit",
      args: { file_path: attack },
      preview: { diff },
    });
    return shownRows(approvalPanel, approvalState({ ...change, suggestion: null }), context);
  },
  "a question": (context) => {
    const options = [{ label: attack, description: attack }, { label: "b" }];
    const question = { question: attack, options, multiple: true };
    return shownRows(questionPanel, questionState({ ...suspension(question), path: [attack] }), context);
  },
  "a plan": (context) => {
    const plan = { ...suspension({ title: attack, plan: attack }, "submit_plan"), path: [attack] };
    return shownRows(planPanel, planState(plan, { transitionsTo: attack }), context);
  },
  "a tool": (context) =>
    shownRows(
      suspensionPanel,
      suspensionState({ ...suspension({ [attack]: attack }, attack), path: [attack] }),
      context,
    ),
  "a list": (context) => {
    const items = [
      { value: 1, label: attack, details: [attack] },
      { value: 2, label: "b" },
    ];
    return shownRows(pickerPanel<number>(), pickerState({ title: `Threads ${attack}`, items }), context);
  },
  "a field": (context) =>
    shownRows(textFieldPanel, textFieldState({ title: `Rename ${attack}`, initial: attack }), context),
});

/** Rows that begin with neither a gutter nor our own words are choices. */
const OURS =
  /^(?:Run this|Allow this|Make this|Carry out|Question|A tool waits|Threads|Rename|from |not listed by |with$|Why not|> |\d+ lines? above)/;
const isChoice = (row: string): boolean => !row.startsWith("│ ") && !OURS.test(row);

test("no text in any panel reaches the terminal as a control or changes its direction", () => {
  for (const [name, attack] of Object.entries(attacks))
    for (const [panel, rows] of Object.entries(panelsWith(attack)))
      for (const width of [20, 80])
        for (const row of rows(room(width, 200)))
          assert.doesNotMatch(
            row,
            /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\u{e0000}-\u{e007f}]/u,
            `${panel}: ${name}`,
          );
});

test("no text in an approval makes a row that looks like a choice, and no choice within a row", () => {
  const offered = ["y approve", "n decline", "r with a reason", "e edit"];
  for (const [name, attack] of Object.entries(attacks))
    for (const panel of ["a command", "a call", "a change"])
      for (const width of [20, 40, 80]) {
        const rows = panelsWith(attack)[panel]!(room(width, 400)).filter(isChoice);
        const choices = joined(rows)
          .flatMap((row) => row.slice(2).split(/ {3}| › /))
          .map((choice) => choice.replace(/^p always .*$/, "p always"));
        const category = { "a command": "execute", "a call": "mcp", "a change": "edit" }[panel];
        assert.deepEqual(
          choices,
          [...offered, "p always", `c always ${category}`, "v view"],
          `${panel}, ${name}, ${width}`,
        );
      }
});

/** The rows of a choice that was broken, as one. */
function joined(rows: readonly string[]): string[] {
  const whole: string[] = [];
  for (const row of rows) {
    if (row.startsWith("    ") && whole.length > 0) whole.push(`${whole.pop()} ${row.trimStart()}`);
    else whole.push(row);
  }
  return whole;
}

test("the pattern that would be allowed always stays in its quotes", () => {
  const pattern = 'npm "   y decline   n "approve';
  const rows = shownRows(approvalPanel, approvalState(approval({ suggestion: pattern })), room(200));
  assert.match(
    rows.join("\n"),
    /p always "npm \\" <U\+0020><U\+0020>y decline <U\+0020><U\+0020>n \\"approve" {3}c always/,
  );
});

test("a question has as many rows of options as it has options, whatever they contain", () => {
  for (const [name, attack] of Object.entries(attacks)) {
    const rows = panelsWith(attack)["a question"]!(room(40, 400)).filter((row) => /^(?:› | {2})\[[ x]\]/.test(row));
    assert.equal(rows.length, 2, name);
  }
});

test("a list has one row for each item", () => {
  for (const [name, attack] of Object.entries(attacks)) {
    const rows = panelsWith(attack)["a list"]!(room(40)).filter(isChoice);
    assert.equal(rows.length, 2, name);
  }
});

test("each character of a command that a reader can't see is shown as its code point", () => {
  const rows = (command: string): string =>
    shownRows(approvalPanel, approvalState(approval({ args: { command } })), room(120, 100))
      .filter((row) => row.startsWith("│ "))
      .map((row) => row.slice(2))
      .join("\n");
  assert.equal(rows("ls \u202e/ fr- mr"), "ls <U+202E>/ fr- mr");
  assert.equal(rows("pass\u200bword"), "pass<U+200B>word");
  assert.equal(rows("ls\r\u001b[2Krm"), "ls<U+000D><U+001B>[2Krm");
  assert.equal(rows("a\tb"), "a<U+0009>b");
  assert.equal(rows("echo a\n  echo b\n"), "echo a\n  echo b\n");
});

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom(..." ›│y\n\u202e\u200d👨é\u0301漢"), fc.string({ unit: "binary", maxLength: 1 })),
  maxLength: 300,
});
const shownCommand = (lines: readonly Line[]): string => lines.map((row) => plainText(row).slice(2)).join("");

test("whatever a command contains, all of it is shown, in rows that no terminal breaks or cuts", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 12, max: 100 }), (command, width) => {
      const lines = approvalLines(approval({ args: { command } }), { width });
      for (const row of lines) {
        assert.ok(plainText(row).startsWith("│ "));
        const content = plainText(row).slice(2);
        const columns = graphemes(content).reduce((sum, grapheme) => sum + greatestWidth(grapheme), 0);
        assert.ok(2 + columns < width || graphemes(content).length === 1, content);
      }
      const whole = approvalLines(approval({ args: { command } }), { width: 1_000_000 });
      assert.equal(shownCommand(lines), shownCommand(whole));
      assert.equal(whole.length, command.split("\n").length);
    }),
  );
});

test("a diff is shown revealed, and one that was truncated is not shown instead of the arguments", () => {
  const change = (diff: string) =>
    approval({
      toolName: "edit_file",
      category: "edit",
      args: { file_path: "a.ts", new_string: "x" },
      preview: { diff },
    });
  const shown = (diff: string) => approvalLines(change(diff), { width: 80 }).map(plainText);
  assert.deepEqual(shown("@@ -1 +1 @@\n-a\n+b\u202e\tc\n"), [
    "│ edit_file a.ts",
    "│   1 - a",
    "│   1 + b<U+202E>    c",
  ]);
  assert.deepEqual(shown("@@ -1,2 +1,2 @@\r\n-a\r\n+b\r\n c\r\n"), shown("@@ -1,2 +1,2 @@\n-a\n+b\n c\n"));
  for (const cut of ["@@ -1,3 +1,3 @@\n-a\n+b\n", "@@ -1 +1 @@\n-a\n+b\n\\ 3 more lines\n", "", "3 lines left out"])
    assert.match(shown(cut).join("\n"), new RegExp(quote('"new_string": "x"').replaceAll("\\", "")), cut);
});

test("the arguments of a tool that is not the workspace's own are shown beside its diff", () => {
  const preview = { diff: "@@ -1 +1 @@\n-a\n+b\n" };
  const deploy = approval({ toolName: "deploy", category: "other", args: { file_path: "a", to: "prod" }, preview });
  const rows = approvalLines(deploy, { width: 80 }).map(plainText);
  assert.deepEqual(rows.slice(-4), ['│   "to": "prod"', "│ }", "│   1 - a", "│   1 + b"]);
});

test("another tool that runs commands is named", () => {
  const remote = approval({ toolName: "ssh", category: "execute", args: { command: "ls" } });
  assert.deepEqual(approvalLines(remote, { width: 80 }).map(plainText), ["│ ssh {", '│   "command": "ls"', "│ }"]);
});

test("on a screen without room for a gutter, what is approved is printed above", () => {
  assert.equal(approvalIsLong(approval(), { width: 8, rows: 50 }), true);
  assert.equal(approvalIsLong(approval(), { width: 80, rows: 1 }), true);
  assert.equal(approvalIsLong(approval(), { width: 80, rows: 2 }), false);
});
