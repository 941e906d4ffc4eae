import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool, memoryStore, type DurableEvent, type HarnessEvent } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { asking, harness, noting, onlyHere } from "../support.ts";

const slow = defineTool({
  description: "Waits until it is aborted",
  input: z.object({}),
  execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"))),
});

const signatures = (events: readonly (DurableEvent | HarnessEvent)[]): string[] =>
  events.flatMap((event) => ("by" in event && typeof event.by === "string" ? [`${event.type} ${event.by}`] : []));

test("every event of a command says who gave it, and no other event does", async () => {
  const storage = memoryStore();
  const model = script(
    call(["note", { what: "x" }], ["ask", { question: "?" }]),
    say("done"),
    call("slow", {}),
    say("again"),
  );
  const { note } = noting();
  await using h = await harness({ model, storage, tools: { note, ask: asking, slow }, permissions: [] });
  const ada = await h.createSession({ by: "ada" });
  const { id } = await ada.createThread();
  await ada.setPermissionForTool({ toolName: "ask", policy: "allow" });
  await ada.setPermissionForTool({ toolName: "slow", policy: "allow" });
  await ada.setState({ colour: "red" });
  await ada.switchModel({ modelId: "another" }).catch(() => undefined);
  const done = ada.sendMessage({ content: "go" });
  await ada.settled();
  await ada.respondToToolApproval({ decision: "always_allow_tool", by: "not ada" });
  await ada.respondToToolSuspension({ resumeData: 1, by: "not ada" });
  await done;
  await ada.renameThread({ title: "named" });
  await ada.grantSessionTool({ toolName: "note" });
  await ada.post({ content: "slowly", delivery: "send" });
  while (!Object.values(ada.getDisplayState().activeTools).some(({ status }) => status === "running"))
    await new Promise((resolve) => setTimeout(resolve, 5));
  const { inputId } = await ada.followUp({ content: "later" });
  await ada.editInput({ inputId, content: "much later" });
  await ada.removeInput({ inputId });
  await ada.abort();
  await ada.retry();
  await ada.rewind({ toSeq: ada.getDisplayState().seq });
  const clone = await ada.cloneThread();
  const expected = [
    "thread_created ada",
    "permission_changed ada",
    "permission_changed ada",
    "state_changed ada",
    "input_accepted ada",
    "thread_renamed ada",
    "message_end ada",
    "tool_approval_resolved ada",
    "grant_added ada",
    "tool_resumed ada",
    "thread_renamed ada",
    "grant_added ada",
    "input_accepted ada",
    "message_end ada",
    "input_accepted ada",
    "input_edited ada",
    "input_removed ada",
    "abort_requested ada",
    "input_accepted ada",
    "thread_rewound ada",
  ];
  assert.deepEqual(signatures(await storage.read(id)), expected);
  assert.deepEqual(signatures(await storage.read(clone.id)).slice(expected.length), ["thread_cloned ada"]);
});

const NAMED = onlyHere("the token says who answers");
test("a session without a name leaves the name to the answer, and its events as they were", NAMED, async () => {
  const storage = memoryStore();
  const { note } = noting();
  const model = script(call("note", { what: "x" }), say("done"));
  await using h = await harness({ model, storage, tools: { note }, permissions: [] });
  const done = h.sendMessage({ content: "go" });
  await h.settled();
  await h.respondToToolApproval({ decision: "approve", by: "bob" });
  await done;
  assert.deepEqual(signatures(await storage.read(h.getCurrentThreadId()!)), ["tool_approval_resolved bob"]);
});

test("an answer that new rules give is signed by the rules, and the rule by the person", async () => {
  const storage = memoryStore();
  const { note } = noting();
  const model = script(call("note", { what: "x" }), say("done"));
  await using h = await harness({ model, storage, tools: { note }, permissions: [] });
  const ada = await h.createSession({ by: "ada" });
  const done = ada.sendMessage({ content: "go" });
  await ada.settled();
  await ada.setPermissionForTool({ toolName: "note", policy: "allow" });
  await done;
  const signed = signatures(await storage.read(ada.getCurrentThreadId()!));
  assert.deepEqual(signed.slice(-2), ["permission_changed ada", "tool_approval_resolved rules"]);
});

describe("the display says who wrote", () => {
  test("a message", async () => {
    await using h = await harness({ model: script(say("one"), say("two")) });
    await h.sendMessage({ content: "unnamed" });
    const threadId = h.getCurrentThreadId()!;
    const ada = await h.createSession({ threadId, by: "ada" });
    await ada.sendMessage({ content: "named" });
    const authors = ["user null", "assistant null", "user ada", "assistant null"];
    const shown = ({ role, by }: { role: string; by: string | null }) => `${role} ${by}`;
    assert.deepEqual(h.getDisplayState().messages.map(shown), authors);
    assert.deepEqual((await h.listMessages()).map(shown), authors);
  });

  test("the present text of a queued input", async () => {
    const model = script(call("slow", {}), say("done"), say("next"));
    await using h = await harness({ model, tools: { slow } });
    await h.post({ content: "go", delivery: "send" });
    const threadId = h.getCurrentThreadId()!;
    const ada = await h.createSession({ threadId, by: "ada" });
    const bob = await h.createSession({ threadId, by: "bob" });
    const { inputId } = await ada.followUp({ content: "later" });
    const queued = async () => (await bob.listInbox()).find((item) => item.inputId === inputId);
    assert.equal((await queued())?.by, "ada");
    await bob.editInput({ inputId, content: "sooner" });
    assert.deepEqual([(await queued())?.content, (await queued())?.by], ["sooner", "bob"]);
  });
});

test("a name that is empty, too long, or that of the rules is INVALID_INPUT", async () => {
  await using h = await harness({ model: script() });
  for (const by of ["", "x".repeat(201), "rules"])
    await assert.rejects(h.createSession({ by }), { code: "INVALID_INPUT" });
});
