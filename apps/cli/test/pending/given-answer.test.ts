import assert from "node:assert/strict";
import { test } from "node:test";
import type { Decision } from "@cinch/core";
import { UsageError } from "../../src/exit.ts";
import { answerTo } from "../../src/pending/given-answer.ts";
import { waitingOf, type Waiting } from "../../src/pending/waiting.ts";
import { waitingText } from "../../src/pending/waiting-text.ts";

const call = { threadId: "t", path: [], toolCallId: "c", args: { command: "npm test" }, seq: 7, at: 0 };
const all: Decision[] = ["approve", "decline", "edit", "always_allow_tool", "always_allow_category"];
const approval = (decisions = all, skill: string | null = null): Waiting =>
  waitingOf({
    ...call,
    toolName: "execute",
    category: "execute",
    digest: "d",
    suggestion: "npm test *",
    decisions,
    preview: { diff: "-a\n+b\n" },
    skill,
  });
const question = (multiple = false): Waiting =>
  waitingOf({
    ...call,
    toolName: "ask_user",
    suspendPayload: {
      question: "Which?",
      options: [{ label: "red", description: "warm" }, { label: "blue" }],
      multiple,
    },
  });
const plan = waitingOf({
  ...call,
  toolName: "submit_plan",
  suspendPayload: { title: "Sums", plan: "1. add\n2. test" },
});
const other = waitingOf({ ...call, toolName: "mine", suspendPayload: { port: 1 } });

const refused = (reason: RegExp) => (error: unknown) => error instanceof UsageError && reason.test(error.message);

test("an approval takes yes, no and always, bound to what was listed", () => {
  const to = { threadId: "t", toolCallId: "c", digest: "d" };
  const answered = (word: string, message?: string) => answerTo(approval(), { words: [word], message });
  assert.deepEqual(answered("yes"), { kind: "approval", answer: { ...to, decision: "approve" } });
  assert.deepEqual(answered("No", "use pnpm"), {
    kind: "approval",
    answer: { ...to, decision: "decline", message: "use pnpm" },
  });
  assert.deepEqual(answered("always"), { kind: "approval", answer: { ...to, decision: "always_allow_tool" } });
  assert.throws(() => answered("sure"), refused(/yes, no or always/));
  assert.throws(
    () => answerTo(approval(["approve", "decline"]), { words: ["always"] }),
    refused(/does not accept "always"\. It accepts: yes, no\./),
  );
});

test("a question takes a text, or one word for each choice", () => {
  const to = { threadId: "t", toolCallId: "c", seq: 7 };
  assert.deepEqual(answerTo(question(), { words: ["light", "blue"] }), {
    kind: "suspension",
    answer: { ...to, resumeData: "light blue" },
  });
  assert.deepEqual(answerTo(question(true), { words: ["red", "blue"] }), {
    kind: "suspension",
    answer: { ...to, resumeData: ["red", "blue"] },
  });
  assert.deepEqual(answerTo(other, { words: ["yes"] }), { kind: "suspension", answer: { ...to, resumeData: "yes" } });
  assert.throws(() => answerTo(question(), { words: ["red"], message: "x" }), refused(/--message/));
});

test("a plan takes yes, no, or what to change", () => {
  const data = (words: string[], message?: string) => {
    const { answer } = answerTo(plan, { words, message });
    return "resumeData" in answer ? answer.resumeData : undefined;
  };
  assert.deepEqual(data(["yes"]), { action: "approved" });
  assert.deepEqual(data(["yes"], "and test"), { action: "approved", feedback: "and test" });
  assert.deepEqual(data(["no"]), { action: "rejected" });
  assert.deepEqual(data(["first", "test"]), { action: "rejected", feedback: "first test" });
});

test("what waits is shown in full, with its command, and with code points for what can't be seen", () => {
  const { id } = approval();
  assert.match(id, /^[0-9a-f]{8}$/);
  assert.equal(
    waitingText(approval(), "cinch answer"),
    `${id}  execute asks whether it may run:
    npm test

    -a
    +b
  answer: cinch answer ${id} yes   (or no, or always: npm test *)`,
  );
  const [head] = waitingText(approval(all, "git-release"), "cinch answer").split("\n");
  assert.equal(head, `${id}  execute asks whether it may run, not listed by the skill "git-release":`);
  assert.equal(
    waitingText({ ...question(), path: ["reviewer"] }, "cinch answer"),
    `${id}  reviewer › ask_user asks:
    Which?
    - red: warm
    - blue
  answer: cinch answer ${id} "…"`,
  );
  assert.match(waitingText(plan, "cinch answer"), /\n {4}Sums\n {4}1\. add\n {4}2\. test\n/);
  const hidden = { ...approval(), args: { command: `ls\u202e\n${"x".repeat(5_000)}`, timeout: "1\ncommand: no" } };
  assert.equal(
    waitingText(hidden, "cinch answer").split("\n").slice(1, -1).join("\n"),
    `    command:
        ls<U+202E>
        ${"x".repeat(5_000)}
    timeout:
        1
        command: no

    -a
    +b`,
  );
});
