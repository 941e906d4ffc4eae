import assert from "node:assert/strict";
import { test } from "node:test";
import type { PendingApproval } from "@cinch/core";
import * as fc from "fast-check";
import {
  focusHint,
  GUARD_MS,
  keysDueAt,
  noPanels,
  panelHasKeys,
  panelId,
  QUIET_MS,
  routedKey,
  shownPanel,
  withAnswer,
  withoutAnswer,
  withPanels,
  withTyping,
  type PanelFocus,
  type QueuedPanel,
} from "../../src/app/panel-focus.ts";
import { edit, emptyEditor, type EditorState } from "../../src/composer/editor.ts";
import { editorAction } from "../../src/composer/editor-keys.ts";
import type { KeyEvent } from "../../src/terminal/keys.ts";
import { approvalPanel, approvalState, type ApprovalState } from "../../src/views/approval.ts";

const WIDTH = 80;
const key = (name: string): KeyEvent => ({ type: "key", key: name });
const typed = (text: string): KeyEvent => ({ type: "text", text });

const approvalOf = (call: string, digest: string): PendingApproval => ({
  threadId: "t",
  toolCallId: call,
  toolName: "execute",
  args: { command: `run ${call} ${digest}` },
  preview: null,
  skill: null,
  category: "execute",
  digest,
  suggestion: "run *",
  decisions: ["approve", "decline", "edit", "always_allow_tool", "always_allow_category"],
  path: [],
  seq: 1,
  at: 0,
});

/** A key that reached the composer, or gave the panel the keys. */
interface Logged {
  at: number;
  what: "composer" | "tab";
}
interface Taken {
  id: string;
  at: number;
  /** The panel that was shown, and since when, and whether the composer was empty, before the key. */
  shown: string | undefined;
  shownAt: number;
  wasEmpty: boolean;
  log: readonly Logged[];
}

/** The composer and the approvals of an app, without its screen. It keeps its own record of what the user could see. */
class Desk {
  now = 1_000;
  focus: PanelFocus = noPanels;
  composer: EditorState = emptyEditor;
  waiting: PendingApproval[] = [];
  readonly states = new Map<string, ApprovalState>();
  readonly taken: Taken[] = [];
  readonly sent: string[] = [];
  readonly log: Logged[] = [];
  #shown: { id: string | undefined; at: number } = { id: undefined, at: 0 };

  contents() {
    return { isEmpty: this.composer.text === "", completes: false, now: this.now };
  }

  wait(ms: number): void {
    this.now += ms;
  }

  show(...approvals: PendingApproval[]): void {
    this.waiting = approvals;
    const panels = approvals.map((one): QueuedPanel => ({ id: panelId(one), kind: "asked" }));
    this.focus = withPanels(this.focus, panels, this.now);
    this.#look();
  }

  press(event: KeyEvent): void {
    const wasEmpty = this.contents().isEmpty;
    const shown = { ...this.#shown };
    const had = panelHasKeys(this.focus, this.contents());
    const { focus, to } = routedKey(this.focus, event, this.contents());
    this.focus = focus;
    if (to === "panel") return this.#answer(event, { wasEmpty, shown });
    if (to === "composer") this.#compose(event);
    else if (!had && panelHasKeys(focus, this.contents())) this.log.push({ at: this.now, what: "tab" });
    else this.log.push({ at: this.now, what: "composer" });
  }

  #answer(event: KeyEvent, { wasEmpty, shown }: { wasEmpty: boolean; shown: { id: string | undefined; at: number } }) {
    const { id } = shownPanel(this.focus)!;
    const approval = this.waiting.find((one) => panelId(one) === id)!;
    const step = approvalPanel.reduce(this.states.get(id) ?? approvalState(approval), event);
    if (step.kind === "state") this.states.set(id, step.state);
    if (step.kind === "ignored") {
      this.focus = withTyping(this.focus, this.now);
      this.#compose(event);
    }
    if (step.kind !== "choice" || step.choice.kind !== "answer") return;
    assert.equal(step.choice.answer.digest, approval.digest);
    this.taken.push({ id, at: this.now, shown: shown.id, shownAt: shown.at, wasEmpty, log: [...this.log] });
    this.focus = withAnswer(this.focus, id, this.now);
    this.#look();
  }

  #compose(event: KeyEvent): void {
    if (event.type !== "key" && event.type !== "text" && event.type !== "paste") return;
    this.log.push({ at: this.now, what: "composer" });
    if (event.type === "key" && event.key === "enter") {
      if (this.composer.text !== "") this.sent.push(this.composer.text);
      this.composer = emptyEditor;
      return;
    }
    const action = editorAction(event);
    if (action) this.composer = edit(this.composer, action, WIDTH);
  }

  #look(): void {
    const id = shownPanel(this.focus)?.id;
    if (id !== this.#shown.id) this.#shown = { id, at: this.now };
  }
}

/** Keyboards repeat a key that is held after a pause, and then often. */
function hold(desk: Desk, event: KeyEvent, firstPause = 660): void {
  desk.press(event);
  desk.wait(firstPause);
  for (let at = 0; at < 100; at++) {
    desk.press(event);
    desk.wait(30);
  }
}

const [a, b] = [approvalOf("a", "1"), approvalOf("b", "1")];
const ids = (desk: Desk) => desk.taken.map(({ id }) => id);

test("a panel that appears over an empty and quiet composer takes y after a moment", () => {
  const desk = new Desk();
  desk.show(a);
  assert.equal(keysDueAt(desk.focus, desk.contents()), desk.now + GUARD_MS);
  desk.wait(GUARD_MS);
  desk.press(typed("y"));
  assert.deepEqual(ids(desk), [panelId(a)]);
  assert.equal(desk.composer.text, "");
});

test("while the composer holds text, y and Enter belong to it, and the panel says that Tab gives it the keys", () => {
  const desk = new Desk();
  desk.press(typed("m"));
  desk.wait(10_000);
  desk.show(a, b);
  desk.wait(10_000);
  assert.equal(focusHint(desk.focus, desk.contents()), "Tab gives it the keys · 1 more");
  assert.equal(keysDueAt(desk.focus, desk.contents()), null);
  desk.press(typed("y"));
  desk.press(key("enter"));
  assert.deepEqual([desk.sent, ids(desk)], [["my"], []]);
  desk.wait(QUIET_MS);
  assert.equal(focusHint(desk.focus, desk.contents()), "1 more");
  desk.press(key("enter"));
  assert.deepEqual(ids(desk), [panelId(a)]);
});

test("Tab gives the panel the keys, and the text stays; a letter that the panel has no use for goes on with the text", () => {
  const desk = new Desk();
  desk.press(typed("m"));
  desk.show(a, b);
  desk.wait(GUARD_MS);
  desk.press(key("tab"));
  desk.press(typed("x"));
  desk.press(typed("y"));
  assert.deepEqual([desk.composer.text, ids(desk)], ["mxy", []]);
  desk.press(key("tab"));
  desk.press(typed("y"));
  assert.deepEqual([desk.composer.text, ids(desk)], ["mxy", [panelId(a)]]);
  desk.wait(10_000);
  desk.press(typed("y"));
  assert.deepEqual([desk.composer.text, ids(desk)], ["mxyy", [panelId(a)]]);
});

test("Tab in the first moment of a panel, or while it completes a word, belongs to the composer", () => {
  const focus = withPanels(noPanels, [{ id: "a", kind: "asked" }], 0);
  const early = { isEmpty: false, completes: false, now: GUARD_MS - 1 };
  assert.equal(routedKey(focus, key("tab"), early).to, "composer");
  const completing = { isEmpty: false, completes: true, now: 10_000 };
  assert.equal(routedKey(focus, key("tab"), completing).to, "composer");
});

test("for 500 ms after a key, an empty composer keeps the keys", () => {
  const desk = new Desk();
  desk.press(typed("m"));
  desk.press(key("backspace"));
  desk.show(a);
  desk.wait(QUIET_MS - 1);
  desk.press(typed("y"));
  assert.deepEqual([desk.composer.text, ids(desk)], ["y", []]);
});

test("Enter in the first 300 ms is ignored, however often it repeats", () => {
  const desk = new Desk();
  desk.show(a);
  for (let at = 0; at < 100; at++) {
    desk.press(key("enter"));
    desk.wait(30);
  }
  assert.deepEqual([desk.sent, ids(desk)], [[], []]);
  desk.wait(QUIET_MS);
  desk.press(key("enter"));
  assert.deepEqual(ids(desk), [panelId(a)]);
});

test("a key that is held down answers one panel, and writes nothing, however late the keyboard begins to repeat", () => {
  for (const pause of [30, 250, 400, 500, 660]) {
    for (const event of [typed("y"), key("enter")]) {
      const desk = new Desk();
      desk.show(a, b);
      desk.wait(GUARD_MS);
      hold(desk, event, pause);
      assert.deepEqual([desk.composer.text, ids(desk)], ["", [panelId(a)]]);
      desk.wait(QUIET_MS);
      desk.press(event);
      assert.deepEqual(ids(desk), [panelId(a), panelId(b)]);
    }
  }
});

test("the Enter that sent a message, when it is held, answers no panel that appears meanwhile", () => {
  const desk = new Desk();
  desk.press(typed("m"));
  desk.press(key("enter"));
  desk.wait(100);
  desk.show(a);
  desk.wait(560);
  hold(desk, key("enter"), 30);
  assert.deepEqual([desk.sent, ids(desk)], [["m"], []]);
});

test("a Tab that is held gives no keys to a panel that appears meanwhile", () => {
  const desk = new Desk();
  desk.press(key("tab"));
  desk.show(a);
  desk.wait(600);
  desk.press(key("tab"));
  desk.press(typed("y"));
  assert.deepEqual([desk.composer.text, ids(desk)], ["y", []]);
});

test("the same key pressed twice in a row answers two panels, if a user can have read the second", () => {
  const desk = new Desk();
  desk.show(a, b);
  desk.wait(GUARD_MS);
  for (const pause of [600, 600, 0]) {
    desk.press(typed("y"));
    desk.wait(pause);
  }
  assert.deepEqual([desk.composer.text, ids(desk)], ["", [panelId(a), panelId(b)]]);
});

test("two panels are answered one after the other, without a pause for typing", () => {
  const desk = new Desk();
  desk.show(a, b);
  desk.wait(GUARD_MS);
  desk.press(typed("y"));
  desk.wait(GUARD_MS);
  desk.press(typed("n"));
  assert.deepEqual(ids(desk), [panelId(a), panelId(b)]);
});

test("a panel that was answered elsewhere vanishes, and the word that was typed for it does not answer the next", () => {
  const desk = new Desk();
  desk.show(a, b);
  desk.wait(GUARD_MS);
  desk.press(typed("r"));
  desk.press(typed("n"));
  desk.show(b);
  desk.wait(GUARD_MS);
  desk.press(typed("y"));
  assert.deepEqual([desk.composer.text, ids(desk)], ["y", []]);
});

test("a call with other arguments is a new panel, with its own first moment", () => {
  const desk = new Desk();
  desk.show(a);
  desk.wait(10_000);
  desk.show(approvalOf("a", "2"));
  desk.press(typed("y"));
  assert.deepEqual([desk.composer.text, ids(desk)], ["y", []]);
});

test("an answered panel is hidden until the thread has the answer, and shown again if the answer fails", () => {
  let focus = withPanels(noPanels, [{ id: "a", kind: "asked" }], 0);
  focus = withAnswer(focus, "a", 1_000);
  focus = withPanels(focus, [{ id: "a", kind: "asked" }], 1_001);
  assert.equal(shownPanel(focus), undefined);
  const failed = withPanels(withoutAnswer(focus, "a"), [{ id: "a", kind: "asked" }], 1_002);
  assert.deepEqual([shownPanel(failed)?.id, failed.shownAt], ["a", 1_002]);
  const done = withPanels(focus, [], 1_002);
  assert.deepEqual([done.queue, done.answered], [[], []]);
});

test("a list that the user opens has the keys at once, before any question, but no Enter that was pressed twice", () => {
  const composer = { isEmpty: false, completes: false, now: 1_000 };
  const asked: QueuedPanel = { id: "a", kind: "asked" };
  const focus = withPanels(withTyping(noPanels, 1_000), [{ id: "list", kind: "opened" }, asked], 1_000);
  assert.equal(shownPanel(focus)?.id, "list");
  assert.equal(routedKey(focus, typed("y"), composer).to, "panel");
  assert.equal(routedKey(focus, key("enter"), composer).to, "nothing");
  assert.equal(routedKey(focus, key("enter"), { ...composer, now: 1_000 + GUARD_MS }).to, "panel");
  const closed = withPanels(withAnswer(focus, "list", 2_000), [asked], 2_000);
  assert.equal(shownPanel(closed)?.id, "a");
  assert.equal(panelHasKeys(closed, { isEmpty: true, completes: false, now: 2_000 + GUARD_MS - 1 }), false);
});

const keys: fc.Arbitrary<KeyEvent> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(..."ynrepcvx ".split("").map(typed)) },
  { weight: 3, arbitrary: fc.constantFrom("enter", "backspace", "left", "right", "up", "escape", "ctrl-u").map(key) },
  { weight: 1, arbitrary: fc.constant(key("tab")) },
  { weight: 1, arbitrary: fc.constantFrom("y", "y\n", "").map((text): KeyEvent => ({ type: "paste", text })) },
  { weight: 1, arbitrary: fc.boolean().map((focused): KeyEvent => ({ type: "focus", focused })) },
);
const pending = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2")), {
  maxLength: 3,
  selector: ([call]) => call,
});
const happening = fc.record({
  after: fc.constantFrom(0, 1, 20, 150, 299, 300, 499, 500, 2_000),
  what: fc.oneof({ weight: 5, arbitrary: keys }, { weight: 1, arbitrary: pending }),
});

test("whatever is typed as approvals come and go, only a key for the shown panel answers, after Tab or after a silence", () => {
  let answers = 0;
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 80, size: "max" }), (story) => {
      const desk = new Desk();
      for (const { after, what } of story) {
        desk.wait(after);
        if (Array.isArray(what)) desk.show(...what.map(([call, digest]) => approvalOf(call, digest)));
        else desk.press(what);
      }
      for (const { id, at, shown, shownAt, wasEmpty, log } of desk.taken) {
        answers++;
        assert.equal(id, shown, "the answer is for another panel than the one that was shown");
        assert.ok(at - shownAt >= GUARD_MS, "a panel was answered in its first moment");
        const gaveKeys = log.at(-1)?.what === "tab" && log.at(-1)!.at >= shownAt;
        const lastTyped = log.findLast(({ what }) => what === "composer")?.at ?? -Infinity;
        const wasQuiet = wasEmpty && at - lastTyped >= QUIET_MS;
        assert.ok(gaveKeys || wasQuiet, "a key for the composer answered");
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(answers > 100, `the property was tested with ${answers} answers only`);
});
