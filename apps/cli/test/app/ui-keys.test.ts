import assert from "node:assert/strict";
import { test } from "node:test";
import type { InboxItem } from "@cinch/core";
import { emptyEditor } from "../../src/composer/editor.ts";
import { keymapNotes, keymapOf } from "../../src/app/keymap.ts";
import type { UiIntent } from "../../src/app/ui-keys.ts";
import { newUiState, restored, withCommandOutputs, type UiState } from "../../src/app/ui-state.ts";
import { key, pressed } from "./pressing.ts";

const ENTER = key("enter");
const ESC = key("escape");
const CTRL_C = key("ctrl-c");
const TAB = key("tab");
const queued = (inputId: string, content: string): InboxItem => ({
  inputId,
  content,
  delivery: "follow_up",
  files: [],
  note: false,
  by: null,
  at: 0,
  dueAt: null,
});
const texts = ({ editor }: UiState) => editor.text;
const types = (intents: readonly UiIntent[]) => intents.map(({ type }) => type);

test("Enter sends the text, keeps it in the history, and clears the composer", () => {
  const { state, intents } = pressed(["hello", ENTER]);
  const [remember, send] = intents;
  assert.deepEqual(remember, { type: "remember", text: "hello" });
  assert.ok(send?.type === "send" && send.delivery === "now" && send.message.content === "hello");
  assert.equal(texts(state), "");
});

test("Alt-Enter queues the text", () => {
  const { intents } = pressed(["later", key("alt-enter")], { turn: "working" });
  assert.ok(intents[1]?.type === "send" && intents[1].delivery === "queue");
});

test("Enter without text sends nothing; what is held or parked continues", () => {
  assert.deepEqual(pressed([ENTER, "  ", ENTER]).intents, []);
  assert.deepEqual(pressed([ENTER], { turn: "held" }).intents, [{ type: "resume" }]);
  assert.deepEqual(pressed([ENTER], { turn: "parked" }).intents, [{ type: "resume" }]);
});

test("a backslash before Enter continues the line", () => {
  const { state, intents } = pressed(["one\\", ENTER, "two"]);
  assert.equal(texts(state), "one\ntwo");
  assert.deepEqual(intents, []);
});

test("a message that is not accepted returns to the composer, unless other text is there", () => {
  const { state, intents } = pressed(["hello", ENTER]);
  const message = intents.flatMap((intent) => (intent.type === "send" ? [intent.message] : []))[0]!;
  assert.equal(texts(restored(state, message)), "hello");
  const typing = pressed(["next"], {}, state).state;
  assert.equal(texts(restored(typing, message)), "next");
});

test("a command runs with its argument", () => {
  const { intents, state } = pressed(["/rename two words", ENTER]);
  assert.deepEqual(intents[1], { type: "command", name: "rename", argument: "two words" });
  assert.equal(texts(state), "");
});

test("an unknown command names the nearest one, and the text stays", () => {
  const { intents, state } = pressed(["/thraeds now", ENTER]);
  assert.deepEqual(intents, []);
  assert.equal(texts(state), "/thraeds now");
  assert.match(state.notice!, /no command \/thraeds\. Did you mean \/threads\?/);
});

test("a path is no command, and neither is a text after a space", () => {
  for (const text of ["/etc/hosts is empty", " /threads"]) {
    const { intents } = pressed([text, ENTER]);
    assert.deepEqual(types(intents), ["remember", "send"]);
  }
});

test("what begins with an exclamation mark is a command of the user", () => {
  const { intents } = pressed(["! npm test", ENTER]);
  assert.deepEqual(intents[1], { type: "shell", command: "npm test" });
});

test("the output of the user's commands goes with the next message, and can't end its block", () => {
  const outputs = [{ command: "cat a.md", output: "```\ncode\n```\n", ending: "exit 1" }];
  const { state, intents } = pressed(["why?", ENTER], {}, { ...newUiState, outputs });
  assert.ok(intents[1]?.type === "send");
  assert.deepEqual(intents[1].message.outputs, outputs);
  assert.deepEqual(state.outputs, []);
  assert.equal(
    withCommandOutputs("why?", outputs),
    "I ran this command (exit 1):\n````\n$ cat a.md\n```\ncode\n```\n````\n\nwhy?",
  );
});

test("Esc stops the turn, and the text stays", () => {
  const { state, intents } = pressed(["draft", ESC], { turn: "working" });
  assert.deepEqual(intents, [{ type: "stop" }]);
  assert.equal(texts(state), "draft");
});

test("Esc twice rewinds when nothing runs; another key between them disarms it", () => {
  assert.deepEqual(pressed(["draft", ESC, ESC]).intents, [{ type: "rewind" }]);
  assert.deepEqual(pressed([ESC, "x", ESC]).intents, []);
  assert.deepEqual(pressed([ESC, ESC], { turn: "stopping" }).intents, []);
});

test("Ctrl-C stops; else moves the text to the history; else leaves at the second press", () => {
  assert.deepEqual(pressed(["draft", CTRL_C], { turn: "working" }).intents, [{ type: "stop" }]);
  const { state, intents } = pressed(["draft", CTRL_C]);
  assert.deepEqual(intents, [{ type: "remember", text: "draft" }]);
  assert.equal(texts(state), "");
  const armed = pressed([CTRL_C], {}, state);
  assert.deepEqual(armed.intents, []);
  assert.match(armed.state.notice!, /Ctrl-C again to leave/);
  assert.deepEqual(pressed([CTRL_C], {}, armed.state).intents, [{ type: "leave" }]);
  assert.deepEqual(pressed(["x", key("backspace"), CTRL_C], {}, armed.state).intents, []);
});

test("Ctrl-D on an empty line leaves at the second press, also while a turn runs; in a text it deletes", () => {
  const CTRL_D = key("ctrl-d");
  for (const turn of ["idle", "working"] as const) {
    const armed = pressed([CTRL_D], { turn });
    assert.deepEqual(armed.intents, []);
    assert.match(armed.state.notice!, /Ctrl-D again to leave/);
    assert.deepEqual(pressed([CTRL_D], { turn }, armed.state).intents, [{ type: "leave" }]);
  }
  const { state, intents } = pressed(["draft", key("ctrl-a"), CTRL_D, CTRL_D]);
  assert.deepEqual([texts(state), intents], ["aft", []]);
});

test("while a turn is being stopped, Ctrl-C does what it does without a turn", () => {
  assert.deepEqual(pressed([CTRL_C, CTRL_C], { turn: "stopping" }).intents, [{ type: "leave" }]);
});

test("Up walks in the history, and Down returns to what was being written", () => {
  const entries = ["first", "/threads"];
  const { state } = pressed(["draft", key("up"), key("up")], { entries });
  assert.equal(texts(state), "first");
  const back = pressed([key("down"), key("down")], { entries }, state);
  assert.equal(texts(back.state), "draft");
});

test("Ctrl-R finds what was sent before; Enter takes it and does not send it", () => {
  const entries = ["run the tests", "fix the sum", "run the build"];
  const { state, intents } = pressed(["old", key("ctrl-r"), "run", key("ctrl-r"), ENTER], { entries });
  assert.equal(texts(state), "run the tests");
  assert.deepEqual(intents, []);
  assert.equal(texts(pressed(["old", key("ctrl-r"), "run", ESC], { entries }).state), "old");
  assert.equal(texts(pressed(["old", key("ctrl-r"), "zzz", ENTER], { entries }).state), "old");
});

test("a key that edits takes the found text and edits it", () => {
  const { state } = pressed([key("ctrl-r"), "sum", key("ctrl-w")], { entries: ["fix the sum"] });
  assert.equal(texts(state), "fix the ");
});

test("Tab completes the file under the cursor of the list; arrows choose", () => {
  assert.equal(texts(pressed(["see @sum.t", TAB]).state), "see @src/sum.ts ");
  assert.equal(texts(pressed(["see @sum.t", key("down"), TAB, "!"]).state), "see @src/sum.test.ts !");
});

test("Enter takes the choice of the list before it sends; a whole name is sent", () => {
  const { state, intents } = pressed(["see @notes", ENTER]);
  assert.equal(texts(state), "see @notes.md ");
  assert.deepEqual(intents, []);
  assert.deepEqual(types(pressed(["see @notes.md", ENTER]).intents), ["remember", "send"]);
});

test("Enter runs the chosen command", () => {
  const { intents } = pressed(["/thr", ENTER]);
  assert.deepEqual(intents[1], { type: "command", name: "threads", argument: "" });
});

test("Esc closes the list and does not stop the turn; the list of another word opens again", () => {
  const { state, intents } = pressed(["@no", ESC, ENTER], { turn: "working" });
  assert.deepEqual(types(intents), ["remember", "send"]);
  assert.equal(texts(state), "");
  assert.equal(texts(pressed(["@no", ESC, " @no", TAB]).state), "@no @notes.md ");
});

test("Alt-Up edits the newest queued input, and then older ones; Enter keeps the change", () => {
  const inbox = { queued: [queued("1", "one"), queued("2", "two")] };
  const { state } = pressed(["draft", key("alt-up")], inbox);
  assert.equal(texts(state), "two");
  const kept = pressed([" more", ENTER], inbox, state);
  assert.deepEqual(kept.intents, [{ type: "edit-input", inputId: "2", content: "two more" }]);
  assert.equal(texts(kept.state), "draft");
  const older = pressed([key("alt-up")], inbox, state).state;
  assert.equal(texts(older), "one");
  const removed = pressed([key("ctrl-u"), ENTER], inbox, older);
  assert.deepEqual(removed.intents, [{ type: "remove-input", inputId: "1" }]);
  assert.equal(texts(removed.state), "draft");
  assert.equal(texts(pressed([ESC], { ...inbox, turn: "working" }, state).state), "draft");
});

test("the path of an image is attached, any other paste is text", () => {
  const paste = (text: string) => pressed([{ type: "paste", text }]);
  assert.deepEqual(paste("'/tmp/a b.png'").intents, [
    { type: "attach", path: "/tmp/a b.png", pasted: "'/tmp/a b.png'" },
  ]);
  assert.equal(texts(paste("two\nlines").state), "two\nlines");
});

test("a large paste is a label, and is sent whole", () => {
  const long = "line\n".repeat(50);
  const { state } = pressed([{ type: "paste", text: long }]);
  assert.match(texts(state), /^\[paste 1: 51 lines\]$/);
  const { intents } = pressed([ENTER], {}, state);
  assert.ok(intents[1]?.type === "send");
  assert.equal(intents[1].message.content, long);
});

test("a key of the configuration replaces the default one", () => {
  const keymap = keymapOf({ pager: "f2", output: "ctrl-t" });
  assert.deepEqual(pressed([key("f2")], { keymap }).intents, [{ type: "pager" }]);
  assert.deepEqual(pressed([key("ctrl-t")], { keymap }).intents, [{ type: "output" }]);
  assert.deepEqual(pressed([key("ctrl-o")], { keymap }).intents, []);
});

test("the user learns which actions a key of the configuration leaves without a key", () => {
  assert.deepEqual(keymapNotes({ pager: "f2", output: "ctrl-t" }), []);
  assert.deepEqual(keymapNotes({ pager: "enter" }), [
    '"keys" of your configuration gives Enter to "pager", so "send" has no key. Give it another one.',
  ]);
  assert.deepEqual(keymapNotes({ output: "ctrl-t" }), [
    '"keys" of your configuration gives Ctrl-T to "output", so "pager" has no key. Give it another one.',
  ]);
  assert.deepEqual(keymapNotes({ pager: "f2", redraw: "f2" }), [
    '"keys" of your configuration gives F2 to "redraw", so "pager" has no key. Give it another one.',
  ]);
});

test("a dialog has all keys; Esc and Ctrl-C close it, and the composer keeps its text", () => {
  const panel = {
    reduce: (state: string, event: { type: string }) =>
      event.type === "text" ? ({ kind: "state", state: `${state}x` } as const) : ({ kind: "ignored" } as const),
    view: () => ({ lines: [], cursor: null }),
    inLines: () => ({ lines: [], choices: [] }),
  };
  const from = {
    ...newUiState,
    editor: { ...emptyEditor, text: "draft", cursor: 5 },
    dialog: { id: 7, panel, state: "" },
  };
  const { state, intents } = pressed(["ab", ENTER], {}, from);
  assert.equal(state.dialog?.state, "xx");
  assert.deepEqual(intents, []);
  for (const close of [ESC, CTRL_C]) {
    const closed = pressed([close], { turn: "working" }, state);
    assert.deepEqual(closed.intents, [{ type: "chosen", choice: undefined }]);
    assert.equal(closed.state.dialog, null);
    assert.equal(texts(closed.state), "draft");
  }
});
