import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, isSuspendedBy, memoryStore, type HarnessConfig, type Store } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";
import { asking } from "../support.ts";

const deploy = defineTool({
  description: "Deploys",
  category: "execute",
  input: z.object({ target: z.string() }),
  execute: ({ target }) => `deployed to ${target}`,
});

/** What the model does with each message. */
const steps: Record<string, Step> = {
  approval: call("deploy", { target: "staging" }, "a"),
  question: call("ask_user", { question: "Which?", options: [{ label: "This" }] }, "q"),
  plan: call("submit_plan", { plan: "Build it." }, "p"),
  suspension: call("asking", { question: "How?" }, "s"),
  child: call("task", { agent: "explore", prompt: "deeper" }),
  deeper: call("task", { agent: "search", prompt: "question" }),
  fork: call("task", { agent: "copy", prompt: "question" }),
};

const model = scriptedBy(({ prompt }) => {
  const last = prompt.at(-1);
  if (last?.role !== "user") return say("done");
  const text = last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return Object.entries(steps).findLast(([what]) => text.includes(what))?.[1] ?? say("done");
});

const search = new Agent({ name: "search", model });
const copy = new Agent({ name: "copy", forked: true });
const explore = new Agent({ name: "explore", model, subagents: [search] });
const agent = new Agent({
  name: "desk",
  model,
  tools: { deploy, asking },
  subagents: [explore, copy],
  maxSubagentDepth: 2,
});

/** A process on this data. */
function harnessOn(data: MemoryData, config: Partial<HarnessConfig> = {}) {
  const made = new Harness({
    id: "test",
    storage: memoryStore(data),
    modes: [{ id: "work", agent, transitionsTo: "work" }],
    permissions: [{ category: "other", policy: "allow" }],
    ...config,
  });
  return Object.assign(made, { [Symbol.asyncDispose]: () => made.close() });
}

/** A new thread that waits for a person. */
async function waiting(harness: Harness, what: string): Promise<string> {
  const { id } = await harness.createThread({ title: what });
  await harness.post({ content: what, delivery: "send" });
  await harness.settled();
  return id;
}

test("pending lists what waits for a person in all threads, whichever process drives them, oldest first", async () => {
  const data = new MemoryData();
  await using first = harnessOn(data);
  const ids = [];
  for (const what of ["approval", "question", "idle", "plan"]) ids.push(await waiting(first, what));
  await using second = harnessOn(data, { resourceId: "other" });
  ids.push(await waiting(second, "suspension"));
  const pending = await second.pending();
  assert.deepEqual(
    pending.map(({ kind, threadId, title, resourceId, toolCallId, toolName, rootThreadId, path }) => [
      [kind, title, resourceId, toolCallId, toolName, path],
      [threadId, rootThreadId],
    ]),
    [
      [["approval", "approval", "default", "a", "deploy", []], ids[0]],
      [["question", "question", "default", "q", "ask_user", []], ids[1]],
      [["plan", "plan", "default", "p", "submit_plan", []], ids[3]],
      [["suspension", "suspension", "other", "s", "asking", []], ids[4]],
    ].map(([what, id]) => [what, [id, id]]),
  );
  const [, question] = pending;
  assert.ok(question?.kind === "question" && isSuspendedBy(question, "ask_user"));
  assert.deepEqual(question.suspendPayload, { question: "Which?", options: [{ label: "This" }], multiple: false });
  assert.deepEqual(
    (await first.pending({ resourceId: "other" })).map(({ kind }) => kind),
    ["suspension"],
  );
  assert.deepEqual(await first.pending({ resourceId: "unknown" }), []);
  assert.deepEqual(
    (await first.pendingApprovals()).map(({ threadId }) => threadId),
    [ids[0]],
  );
  const { threadId, toolCallId, seq } = question;
  await second.respondToToolSuspension({ threadId, toolCallId, seq, resumeData: "This" });
  assert.deepEqual(
    (await second.pending()).map(({ kind }) => kind),
    ["approval", "plan", "suspension"],
  );
});

for (const [what, path] of [
  ["child", ["explore", "search"]],
  ["fork", ["copy"]],
] as const)
  test(`the question of a subagent appears once, with its path and the thread to open: a ${what}`, async () => {
    const data = new MemoryData();
    await using first = harnessOn(data);
    const rootThreadId = await waiting(first, what);
    await using second = harnessOn(data);
    const pending = await second.pending();
    assert.deepEqual(
      pending.map((one) => [one.kind, one.rootThreadId, one.path, one.threadId === rootThreadId]),
      [["question", rootThreadId, path, false]],
    );
  });

test("the question of a clone is in the clone", async () => {
  const data = new MemoryData();
  await using h = harnessOn(data);
  await waiting(h, "idle");
  const { id } = await h.cloneThread();
  await h.post({ content: "question", delivery: "send" });
  await h.settled();
  assert.deepEqual(
    (await h.pending()).map(({ threadId, rootThreadId }) => [threadId, rootThreadId]),
    [[id, id]],
  );
});

test("pending reads only threads with work left, however many there are", async () => {
  const storage = memoryStore(new MemoryData());
  await using h = harnessOn(new MemoryData(), { storage });
  for (let count = 0; count < 200; count++) await h.createThread();
  const id = await waiting(h, "question");
  const read: string[] = [];
  const original = storage.read.bind(storage);
  storage.read = ((threadId, range) => {
    read.push(threadId);
    return original(threadId, range);
  }) as Store["read"];
  assert.equal((await h.pending()).length, 1);
  assert.deepEqual(new Set(read), new Set([id]));
});

test("an unknown option is refused", async () => {
  await using h = harnessOn(new MemoryData());
  await assert.rejects(h.pending({ resource: "me" } as never), { code: "INVALID_INPUT" });
});
