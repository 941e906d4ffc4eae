import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type Store } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { systemClock } from "../../src/ports/clock.ts";
import { call, hang, say, script } from "@cinch/testkit";
import * as z from "zod";
import { asking, gated, harness, next, noting } from "../support.ts";

/** The store of a process that is never notified of changes: its threads are always behind. */
class Deaf extends MemoryStore {
  override follow: Store["follow"] = () => () => undefined;
}

async function two(model: ReturnType<typeof script>) {
  const data = new MemoryData();
  const { note, runs } = noting();
  const options = { model, tools: { ask: asking, note }, interruptOn: { note: true } };
  const near = await harness({ ...options, storage: new MemoryStore(data) });
  const { id: threadId } = await near.createThread();
  const behind = await harness({ ...options, storage: new Deaf(data) });
  await behind.switchThread({ threadId });
  return { near, behind, runs };
}

test("a process that is behind can answer a pending call", async () => {
  const { near, behind, runs } = await two(
    script(call("note", { what: "it" }), call("ask", { question: "?" }), say("ok")),
  );
  const asked = next(near, "tool_approval_required");
  const turn = near.sendMessage({ content: "Go" });
  const { toolCallId, digest } = await asked;
  const suspended = next(near, "tool_suspended");
  await behind.respondToToolApproval({ toolCallId, digest, decision: "approve" });
  await suspended;
  await behind.respondToToolSuspension({ resumeData: "!" });
  assert.deepEqual([(await turn).reason, runs.length], ["complete", 1]);
  await near.close();
  await behind.close();
});

test("a process that is behind does not continue a turn that waits for a person by now", async () => {
  const { gate, open, started } = gated();
  const { note } = noting();
  const model = script(call(["gate", {}], ["note", { what: "it" }]), say("ok"));
  const impatient = { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(Math.min(ms, 5), run) };
  const options = { model, tools: { gate, note }, interruptOn: { note: true }, clock: impatient };
  const data = new MemoryData();
  await using near = await harness({ ...options, storage: new MemoryStore(data) });
  const { id: threadId } = await near.createThread();
  await near.post({ content: "Go", delivery: "send" });
  await started;
  await using behind = await harness({ ...options, storage: new Deaf(data) });
  await behind.switchThread({ threadId });
  const ended = next(near, "tool_end");
  open();
  await ended;
  while (near.getDisplayState().status !== "waiting") await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await behind.listInbox();
  assert.deepEqual([near.getDisplayState().status, behind.getDisplayState().status], ["waiting", "waiting"]);
  const events = await new MemoryStore(data).read(threadId);
  assert.equal(events.filter(({ type }) => type === "agent_start").length, 1);
});

test("a process that is behind aborts the running turn, and removes an input that is queued behind it", async () => {
  const { near, behind } = await two(script(hang("thinking")));
  const update = next(near, "message_update");
  const turn = near.sendMessage({ content: "Go" });
  await update;
  const { inputId } = await near.followUp({ content: "And then" });
  await behind.removeInput({ inputId });
  const aborted = behind.abort();
  assert.equal((await turn).reason, "aborted");
  assert.deepEqual(await behind.listInbox(), []);
  await near.close();
  await behind.close();
  await aborted;
});

test("an answer to a question that was answered meanwhile does not answer the next question of the same call", async () => {
  const twice = defineTool({
    description: "Asks twice",
    effect: "pure",
    input: z.object({}),
    execute: (_, { suspend, resumed }) => {
      if (!resumed) return suspend("first");
      return resumed.payload === "first" ? suspend("second") : `second: ${String(resumed.data)}`;
    },
  });
  const data = new MemoryData();
  const options = { model: script(call("twice"), say("ok")), tools: { twice } };
  await using near = await harness({ ...options, storage: new MemoryStore(data) });
  const { id: threadId } = await near.createThread();
  const first = next(near, "tool_suspended");
  const turn = near.sendMessage({ content: "Go" });
  const { toolCallId } = await first;
  await using behind = await harness({ ...options, storage: new Deaf(data) });
  await behind.switchThread({ threadId });
  const second = next(near, "tool_suspended");
  await near.respondToToolSuspension({ toolCallId, resumeData: "one" });
  await second;
  await assert.rejects(behind.respondToToolSuspension({ toolCallId, resumeData: "late" }), {
    code: "ALREADY_ANSWERED",
  });
  const end = next(near, "tool_end");
  await near.respondToToolSuspension({ toolCallId, resumeData: "two" });
  assert.equal((await end).result.content, "second: two");
  assert.equal((await turn).reason, "complete");
});

test("a process that is behind aborts a turn that it has not read yet", async () => {
  const { near, behind } = await two(script(hang("thinking")));
  const update = next(near, "message_update");
  const turn = near.sendMessage({ content: "Go" });
  await update;
  const aborted = behind.abort();
  assert.equal((await turn).reason, "aborted");
  await near.close();
  await behind.close();
  await aborted;
});
