import assert from "node:assert/strict";
import { test } from "node:test";
import type { PickList } from "../../src/app/commands/command.ts";
import { line } from "../../src/terminal/line.ts";
import type { KeyEvent } from "../../src/terminal/keys.ts";
import { approvalPanel, approvalState, editedApproval } from "../../src/views/approval.ts";
import { pickerFound, pickerPanel, pickerPreviewed, pickerState, pickerWants } from "../../src/views/picker.ts";
import { editedPlan, planPanel, planState } from "../../src/views/plan.ts";
import { questionPanel, questionState } from "../../src/views/question.ts";
import { suspensionPanel, suspensionState } from "../../src/views/suspension.ts";
import { textFieldPanel, textFieldState } from "../../src/views/text-field.ts";
import { after, approval, choiceAfter, key, room, shownRows, stateAfter, suspension, typed } from "./panel-stage.ts";

const paste = (text: string): KeyEvent => ({ type: "paste", text });
const boundTo = { threadId: "t", toolCallId: "call", digest: "d1" };

test("each key of an approval answers for the call and the digest that were shown", () => {
  const answers = { y: "approve", n: "decline", p: "always_allow_tool", c: "always_allow_category", Y: "approve" };
  for (const [letter, decision] of Object.entries(answers))
    assert.deepEqual(choiceAfter(approvalPanel, approvalState(approval()), typed(letter)), {
      kind: "answer",
      answer: { ...boundTo, decision },
    });
});

test("Enter takes the marked choice of an approval, and arrows move the mark", () => {
  const state = approvalState(approval());
  const decided = (...keys: string[]) => {
    const choice = choiceAfter(approvalPanel, state, keys.map(key));
    return choice.kind === "answer" ? choice.answer.decision : choice.kind;
  };
  assert.equal(decided("enter"), "approve");
  assert.equal(decided("right", "enter"), "decline");
  assert.equal(decided("down", "down", "down", "down", "enter"), "always_allow_tool");
  assert.equal(decided("left", "up", "enter"), "approve");
  assert.equal(decided(...Array<string>(20).fill("right"), "enter"), "view");
});

test("only the decisions that are offered have keys", () => {
  const state = approvalState(approval({ decisions: ["approve", "decline"], suggestion: null }));
  for (const letter of ["e", "p", "c"]) assert.equal(after(approvalPanel, state, typed(letter)).kind, "ignored");
  const strict = approvalState(approval({ decisions: ["approve"] }));
  for (const letter of ["n", "r"]) assert.equal(after(approvalPanel, strict, typed(letter)).kind, "ignored");
});

test("a paste, a key with a modifier and any other letter answer no approval", () => {
  const state = approvalState(approval());
  const events: KeyEvent[] = [
    paste("y"),
    key("ctrl-y"),
    key("alt-y"),
    key("shift-enter"),
    key("escape"),
    ...typed("x"),
  ];
  for (const event of events) assert.equal(after(approvalPanel, state, [event]).kind, "ignored");
});

test("a decline with a reason has a field; Esc leads back, and an empty reason is none", () => {
  const state = approvalState(approval());
  assert.deepEqual(choiceAfter(approvalPanel, state, [...typed("ruse "), paste("yarn\nplease"), key("enter")]), {
    kind: "answer",
    answer: { ...boundTo, decision: "decline", message: "use yarn please" },
  });
  assert.equal(after(approvalPanel, state, [...typed("r"), key("enter")]).kind, "state");
  assert.deepEqual(stateAfter(approvalPanel, state, [...typed("rno"), key("escape")]), state);
});

test("a command is edited as it is, other arguments as JSON, and what is saved becomes the arguments", () => {
  const command = approval({ args: { command: "npm test", cwd: "lib" } });
  assert.deepEqual(choiceAfter(approvalPanel, approvalState(command), typed("e")), {
    kind: "edit",
    text: "npm test",
    extension: "sh",
  });
  assert.deepEqual(editedApproval(command, "npm run test\n"), {
    kind: "answer",
    answer: { ...boundTo, decision: "edit", args: { command: "npm run test", cwd: "lib" } },
  });
  const call = approval({ category: "mcp", toolName: "mail", args: { to: "a" } });
  assert.deepEqual(choiceAfter(approvalPanel, approvalState(call), typed("e")), {
    kind: "edit",
    text: '{\n  "to": "a"\n}',
    extension: "json",
  });
  assert.deepEqual(editedApproval(call, '{"to":"b"}\n'), {
    kind: "answer",
    answer: { ...boundTo, decision: "edit", args: { to: "b" } },
  });
  const broken = editedApproval(call, '{"to":');
  assert.match(broken.kind === "problem" ? broken.problem : "", /The arguments are not JSON: .* Edit them again\./);
});

test("an edit that changes nothing, or leaves nothing, approves nothing", () => {
  const command = approval({ args: { command: "npm test" } });
  for (const saved of ["npm test", "npm test\n", "", "\n"])
    assert.deepEqual(editedApproval(command, saved), { kind: "unchanged" });
});

const database = suspension({
  question: "Which database?",
  options: [{ label: "sqlite", description: "one file" }, { label: "postgres" }],
  multiple: false,
});
const many = suspension({ ...database.suspendPayload, multiple: true });
const answered = (start: typeof database, events: readonly KeyEvent[]) =>
  choiceAfter(questionPanel, questionState(start), events).answer;

test("an option is chosen with arrows and Enter, several with Space, and typed text is an answer too", () => {
  const bound = { threadId: "t", toolCallId: "call", seq: 7 };
  assert.deepEqual(answered(database, [key("enter")]), { ...bound, resumeData: "sqlite" });
  assert.deepEqual(answered(database, [key("down"), key("enter")]), { ...bound, resumeData: "postgres" });
  assert.deepEqual(answered(database, [...typed("my sql"), key("enter")]), { ...bound, resumeData: "my sql" });
  assert.deepEqual(answered(database, [...typed("x"), key("up"), key("enter")]), { ...bound, resumeData: "postgres" });
  assert.deepEqual(answered(many, [...typed(" "), key("down"), ...typed(" "), key("enter")]).resumeData, [
    "sqlite",
    "postgres",
  ]);
  assert.deepEqual(answered(many, [key("down"), key("enter")]).resumeData, ["postgres"]);
  assert.deepEqual(answered(many, [...typed(" duck"), key("enter")]).resumeData, ["sqlite", "duck"]);
  assert.deepEqual(answered(many, [...typed("  duck db"), key("enter")]).resumeData, ["duck db"]);
});

test("a question without an answer stays, and Esc empties the field before it means anything else", () => {
  const open = questionState(suspension({ question: "Why?", options: null, multiple: false }));
  assert.equal(after(questionPanel, open, [key("enter")]).kind, "state");
  for (const name of ["escape", "ctrl-d"]) assert.equal(after(questionPanel, open, [key(name)]).kind, "ignored");
  const emptied = stateAfter(questionPanel, open, [...typed("be"), key("escape")]);
  assert.equal(after(questionPanel, emptied, [key("enter")]).kind, "state");
});

test("a plan is approved, declined or answered with what submit_plan accepts", () => {
  const plan = planState(suspension({ title: null, plan: "1. fix" }, "submit_plan"), { transitionsTo: "build" });
  const dataOf = (events: readonly KeyEvent[], state = plan) => {
    const choice = choiceAfter(planPanel, state, events);
    return choice.kind === "answer" ? choice.answer.resumeData : choice;
  };
  assert.deepEqual(dataOf(typed("y")), { action: "approved" });
  assert.deepEqual(dataOf(typed("n")), { action: "rejected" });
  assert.deepEqual(dataOf([...typed("rtest it"), key("enter")]), { action: "rejected", feedback: "test it" });
  assert.deepEqual(dataOf(typed("e")), { kind: "edit", text: "1. fix", extension: "md" });
  const edited = editedPlan(plan, "1. fix\n2. test\n");
  assert.deepEqual(dataOf(typed("y"), edited), {
    action: "approved",
    feedback: "Carry out this version of the plan:\n\n1. fix\n2. test",
  });
  assert.deepEqual(dataOf(typed("y"), editedPlan(plan, "1. fix\n")), { action: "approved" });
});

test("a tool of the user's own gets JSON where it is JSON, else text", () => {
  const state = suspensionState(suspension({ amount: 3 }, "pay"));
  const dataOf = (text: string) =>
    choiceAfter(suspensionPanel, state, [...typed(text), key("enter")]).answer.resumeData;
  assert.deepEqual(
    [dataOf('{"ok":true}'), dataOf("5"), dataOf('"5"'), dataOf("go on")],
    [{ ok: true }, 5, "5", "go on"],
  );
});

test("a field takes a paste as one line, hides a key, and closes without text", () => {
  const state = textFieldState({ title: "Key", hidden: true });
  const keyed = stateAfter(textFieldPanel, state, [paste("sk-1\n"), ...typed("2")]);
  assert.deepEqual(shownRows(textFieldPanel, keyed, room(40)).at(-1), "> •••••");
  assert.deepEqual(choiceAfter(textFieldPanel, keyed, [key("enter")]), { text: "sk-12" });
  assert.deepEqual(choiceAfter(textFieldPanel, keyed, [key("escape")]), { text: undefined });
  const whole = "0123456789".repeat(5);
  const long = textFieldState({ title: "Title", initial: whole });
  assert.equal(shownRows(textFieldPanel, long, room(20)).at(-1), `> ${whole.slice(-16)}`);
  const { cursor } = textFieldPanel.view(long, room(20));
  assert.deepEqual(cursor, { row: 1, column: 18 });
});

const hundred: PickList<number> = {
  title: "Numbers",
  items: Array.from({ length: 100 }, (_, at) => ({ value: at, label: `number ${at}` })),
};
const numbers = pickerPanel<number>();

test("a list is searched by typing, walked by keys, and closed by Esc", () => {
  const picked = (...events: KeyEvent[]) => choiceAfter(numbers, pickerState(hundred), events).value;
  assert.equal(picked(...typed("number 42"), key("enter")), 42);
  assert.equal(picked(key("down"), key("down"), key("up"), key("enter")), 1);
  assert.equal(picked(key("pagedown"), key("pagedown"), key("pageup"), key("enter")), 10);
  assert.equal(picked(key("ctrl-end"), key("enter")), 99);
  assert.equal(picked(key("escape")), undefined);
  assert.equal(after(numbers, pickerState(hundred), [...typed("zzz"), key("enter")]).kind, "state");
  const rows = shownRows(numbers, stateAfter(numbers, pickerState(hundred), [key("ctrl-end")]), room(60, 8));
  assert.deepEqual([rows.length, rows.at(-1)], [8, "› number 99"]);
});

test("a list that is longer than what was given loads what fits the query, and a late answer changes nothing", () => {
  const list = { ...hundred, search: () => Promise.resolve([]) };
  let state = stateAfter(numbers, pickerState(list), typed("a"));
  assert.equal(pickerWants(pickerState(list)).search, null);
  assert.equal(pickerWants(state).search, "a");
  const late = pickerFound(stateAfter(numbers, state, typed("b")), {
    query: "a",
    items: [{ value: 7, label: "late" }],
  });
  assert.equal(
    late.items.some(({ label }) => label === "late"),
    false,
  );
  state = pickerFound(state, { query: "a", items: [{ value: 500, label: "a thousand" }] });
  assert.equal(pickerWants(state).search, null);
  assert.equal(choiceAfter(numbers, state, [key("enter")]).value, 500);
});

test("the mark stays on its item when what was found comes, also among items of one name", () => {
  const items = [1, 2].map((value) => ({ value, label: "same" }));
  const state = stateAfter(numbers, pickerState({ ...hundred, items }), [...typed("same"), key("down")]);
  const found = pickerFound(state, { query: "same", items: items.map((item) => ({ ...item })) });
  assert.equal(choiceAfter(numbers, found, [key("enter")]).value, 2);
});

test("what fits by its name stays before what is found later by its text, so the first item is the one that was shown", () => {
  const items = [
    { value: 1, label: "hello" },
    { value: 2, label: "write a.txt" },
  ];
  const state = stateAfter(numbers, pickerState({ ...hundred, items }), typed("a.txt"));
  const found = pickerFound(state, { query: "a.txt", items });
  assert.deepEqual(
    found.items.map(({ value }) => value),
    [2, 1],
  );
  assert.equal(choiceAfter(numbers, found, [key("enter")]).value, 2);
});

test("a letter that names a way never chooses: Enter does, and in a search it is a letter", () => {
  const list: PickList<string> = {
    title: "Rewind",
    items: [
      { value: "x", label: "fix the test" },
      { value: "y", label: "begin" },
    ],
    ways: ["both", "files"].map((way) => ({ key: way[0]!, label: way, value: (chosen) => `${chosen} ${way}` })),
    preview: () => Promise.resolve([]),
  };
  const panel = pickerPanel<string>();
  const picked = (...events: KeyEvent[]) => choiceAfter(panel, pickerState(list), events).value;
  assert.equal(picked(key("enter")), "x both");
  assert.equal(picked(...typed("f"), key("enter")), "x files");
  assert.equal(picked(...typed("fb"), key("down"), key("enter")), "y both");
  assert.equal(picked(...typed("eg"), key("enter")), "y both");
  assert.equal(picked(...typed("ix"), key("backspace"), key("backspace"), ...typed("f"), key("enter")), "x files");
  assert.deepEqual(stateAfter(panel, pickerState(list), typed("xf")).way, 0);
});

test("the preview below a list is that of the marked item and of the way", () => {
  const list: PickList<string> = {
    title: "Rewind",
    items: [
      { value: "x", label: "same" },
      { value: "y", label: "same" },
    ],
    ways: ["both", "files"].map((way) => ({ key: way[0]!, label: way, value: (chosen) => `${chosen} ${way}` })),
    preview: () => Promise.resolve([]),
  };
  const panel = pickerPanel<string>();
  const state = pickerState(list);
  const { preview } = pickerWants(state);
  assert.equal(preview?.item.value, "x both");
  const shown = pickerPreviewed(state, { key: preview!.key, lines: [line("two files")] });
  assert.equal(pickerWants(shown).preview, null);
  assert.equal(shownRows(panel, shown, room(80)).at(-1), "two files");
  const moved = stateAfter(panel, shown, [key("down")]);
  assert.equal(pickerWants(moved).preview?.item.value, "y both");
  assert.notEqual(shownRows(panel, moved, room(80)).at(-1), "two files");
  assert.equal(pickerWants(stateAfter(panel, shown, typed("f"))).preview?.item.value, "x files");
});
