import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, Harness, memoryStore, type ApprovalAnswer, type HarnessConfig } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { asking, noting } from "../support.ts";

const ask: HarnessConfig["permissions"] = [{ toolName: "note", policy: "ask" }];
const refusedAs = (code: string) => (error: unknown) => error instanceof CinchError && error.code === code;
const already = refusedAs("ALREADY_ANSWERED");

/** A harness whose agent notes something twice, which a person has to approve. */
function noter(data = new MemoryData()) {
  const { note, runs } = noting();
  const model = script(call("note", { what: "x" }, "c0"), call("note", { what: "y" }, "c1"), say("done"));
  const agent = new Agent({ name: "tester", model, tools: { note } });
  return { h: new Harness({ id: "t", agent, storage: memoryStore(data), permissions: ask }), runs, data };
}

/** A session of Ann at a thread whose first call asks. */
async function asked() {
  const { h, runs, data } = noter();
  await h.createThread();
  const threadId = h.getCurrentThreadId()!;
  const ann = await h.createSession({ threadId, by: "ann" });
  await ann.post({ content: "go", delivery: "send" });
  const { pending } = await ann.settled();
  const [{ toolCallId, digest }] = pending as unknown as [{ toolCallId: string; digest: string }];
  const answer: ApprovalAnswer = { toolCallId, digest, decision: "approve" };
  return { h, runs, data, threadId, ann, answer };
}

test("an answer that the same person gives again succeeds, while the call waits to run and after it has ended", async () => {
  const { h, runs, ann, answer } = await asked();
  await Promise.all([ann.respondToToolApproval(answer), ann.respondToToolApproval(answer)]);
  await ann.settled();
  await ann.respondToToolApproval(answer);
  await ann.respondToToolApproval({ decision: "approve", digest: answer.digest! });
  assert.deepEqual([runs.length, ann.getDisplayState().pendingApproval?.toolCallId], [1, "c1"]);
  await h.close();
});

test("an answer can be repeated after a restart, in another process, and when its turn is long over", async () => {
  const { h, data, threadId, ann, answer } = await asked();
  await ann.respondToToolApproval(answer);
  await ann.settled();
  await ann.respondToToolApproval({ decision: "approve" });
  await ann.settled();
  await h.close();
  const { h: other, runs } = noter(data);
  const session = await other.createSession({ threadId, by: "ann" });
  for (let n = 0; n < 1_100; n++) await session.setState({ n });
  await session.respondToToolApproval(answer);
  await assert.rejects(session.respondToToolApproval({ ...answer, decision: "decline" }), CinchError);
  assert.equal(runs.length, 0);
  await other.close();
});

test("another person, another decision, another message, or an answer without its digest is refused: the first answer stands", async () => {
  const { h, threadId, ann, answer } = await asked();
  const bob = await h.createSession({ threadId, by: "bob" });
  const unnamed = await h.createSession({ threadId });
  await ann.respondToToolApproval(answer);
  await ann.settled();
  const { digest: _, ...unbound } = answer;
  await assert.rejects(bob.respondToToolApproval(answer), already);
  await assert.rejects(unnamed.respondToToolApproval(answer), already);
  await assert.rejects(ann.respondToToolApproval({ ...answer, decision: "decline" }), already);
  await assert.rejects(ann.respondToToolApproval({ ...answer, message: "Go on" }), already);
  await assert.rejects(ann.respondToToolApproval(unbound), already);
  await assert.rejects(ann.respondToToolApproval({ ...answer, digest: "0".repeat(64) }), already);
  await h.close();
});

test("an answer that names its question by the digest alone is told that the first answer stands, also when nothing waits", async () => {
  const { h, threadId, ann, answer } = await asked();
  const bob = await h.createSession({ threadId, by: "bob" });
  const { toolCallId: _, ...bound } = answer;
  await ann.respondToToolApproval(bound);
  await ann.settled();
  await assert.rejects(ann.respondToToolApproval({ ...bound, decision: "decline" }), already);
  await ann.respondToToolApproval({ decision: "approve" });
  await ann.settled();
  await assert.rejects(ann.respondToToolApproval({ ...bound, decision: "decline" }), already);
  await assert.rejects(bob.respondToToolApproval(bound), already);
  const none = { ...bound, digest: "0".repeat(64) };
  await assert.rejects(ann.respondToToolApproval(none), refusedAs("NOT_PENDING"));
  await h.close();
});

test("an answer to a question that an abort has ended is not taken for the one to a later call with the same id", async () => {
  const { note } = noting();
  const model = script(call("note", { what: "x" }, "c0"), call("note", { what: "y" }, "c0"), say("done"));
  const agent = new Agent({ name: "tester", model, tools: { note } });
  const h = new Harness({ id: "t", agent, permissions: ask });
  await h.createThread();
  const ann = await h.createSession({ threadId: h.getCurrentThreadId()!, by: "ann" });
  await ann.post({ content: "go", delivery: "send" });
  const [{ digest }] = (await ann.settled()).pending as unknown as [{ digest: string }];
  await ann.abort();
  await ann.post({ content: "again", delivery: "send" });
  await ann.settled();
  await ann.respondToToolApproval({ decision: "approve" });
  await ann.settled();
  await assert.rejects(ann.respondToToolApproval({ decision: "approve", digest }), refusedAs("NOT_PENDING"));
  await h.close();
});

test("without a name, no person is known to be the same", async () => {
  const { h, threadId, answer } = await asked();
  const unnamed = await h.createSession({ threadId });
  await unnamed.respondToToolApproval(answer);
  await assert.rejects(unnamed.respondToToolApproval(answer), already);
  await h.close();
});

test("an edit is repeated only with the same arguments, in any order of their keys", async () => {
  const { h, ann, answer } = await asked();
  const edit = { ...answer, decision: "edit" as const, args: { what: "z" } };
  await ann.respondToToolApproval(edit);
  await ann.settled();
  await ann.respondToToolApproval(edit);
  await assert.rejects(ann.respondToToolApproval({ ...edit, args: { what: "q" } }), already);
  await h.close();
});

test("an answer that a rule gave is no person's: it can't be repeated", async () => {
  const { h, ann, answer } = await asked();
  await ann.grantSessionTool({ toolName: "note" });
  await ann.settled();
  await assert.rejects(ann.respondToToolApproval(answer), already);
  await h.close();
});

test("the answer to a question is repeated with its seq and the same data", async () => {
  const model = script(call("ask", { question: "Which?" }, "q"), call("ask", { question: "Sure?" }, "q"), say("done"));
  const agent = new Agent({ name: "tester", model, tools: { ask: asking } });
  const h = new Harness({ id: "t", agent, permissions: [{ toolName: "ask", policy: "allow" }] });
  await h.createThread();
  const threadId = h.getCurrentThreadId()!;
  const ann = await h.createSession({ threadId, by: "ann" });
  const bob = await h.createSession({ threadId, by: "bob" });
  await ann.post({ content: "go", delivery: "send" });
  await ann.settled();
  const { seq } = Object.values(ann.getDisplayState().pendingSuspensions)[0]!;
  const answer = { toolCallId: "q", seq, resumeData: { a: 1, b: [2] } };
  await ann.respondToToolSuspension(answer);
  await ann.settled();
  await ann.respondToToolSuspension({ ...answer, resumeData: { b: [2], a: 1 } });
  await ann.respondToToolSuspension({ seq, resumeData: answer.resumeData });
  // The next question has the same call id.
  assert.equal(Object.keys(ann.getDisplayState().pendingSuspensions).length, 1);
  await assert.rejects(ann.respondToToolSuspension({ ...answer, resumeData: { a: 2, b: [2] } }), CinchError);
  await assert.rejects(bob.respondToToolSuspension(answer), CinchError);
  assert.equal(Object.keys(ann.getDisplayState().pendingSuspensions).length, 1);
  await h.close();
});

test("an answer to a subagent's call is repeated at the thread above it, also without the subagent's thread", async () => {
  const { note, runs } = noting();
  const worker = new Agent({
    name: "worker",
    model: script(call("note", { what: "x" }, "c0"), say("ok")),
    tools: { note },
  });
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
  const agent = new Agent({ name: "lead", model, subagents: [worker] });
  const h = new Harness({ id: "t", agent, permissions: ask });
  await h.createThread();
  const ann = await h.createSession({ threadId: h.getCurrentThreadId()!, by: "ann" });
  await ann.post({ content: "go", delivery: "send" });
  const { pending } = await ann.settled();
  const [{ toolCallId, digest, threadId }] = pending as unknown as [
    { toolCallId: string; digest: string; threadId: string },
  ];
  const answer: ApprovalAnswer = { toolCallId, digest, decision: "approve" };
  await ann.respondToToolApproval(answer);
  await ann.settled();
  await ann.respondToToolApproval({ ...answer, threadId });
  await ann.respondToToolApproval(answer);
  await assert.rejects(ann.respondToToolApproval({ ...answer, decision: "decline" }), CinchError);
  assert.equal(runs.length, 1);
  await h.close();
});

test("with repeat, an answer is only compared: a call that waits is not answered", async () => {
  const { h, ann, answer } = await asked();
  await assert.rejects(ann.respondToToolApproval({ ...answer, repeat: true }), refusedAs("NOT_PENDING"));
  await ann.respondToToolApproval(answer);
  await ann.respondToToolApproval({ ...answer, repeat: true });
  await h.close();
});
