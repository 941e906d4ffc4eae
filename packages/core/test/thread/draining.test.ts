import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, defineTool, memoryStore } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness, noting, texts } from "../support.ts";
import { wrapped } from "../wrapped-store.ts";

/** Ends when it is told to, or fails when it is aborted. */
function obedient() {
  const started = Promise.withResolvers<AbortSignal>();
  const opened = Promise.withResolvers<string>();
  const work = defineTool({
    description: "Works",
    input: z.object({}),
    execute: (_, { signal }) => {
      started.resolve(signal);
      signal.addEventListener("abort", () => opened.reject(new Error("stopped")));
      return opened.promise;
    },
  });
  return { work, started: started.promise, finish: () => opened.resolve("worked") };
}

/** The calls whose start is in the journal. */
async function begun(data: MemoryData, threadId: string): Promise<string[]> {
  const store = new MemoryStore(data);
  return (await store.read(threadId)).flatMap((event) => (event.type === "tool_start" ? [event.toolName] : []));
}

test("close waits for a call that runs, keeps its result, and begins nothing after it", async () => {
  const data = new MemoryData();
  const { work, started, finish } = obedient();
  let asked = 0;
  const model = scriptedBy(() => (asked++ === 0 ? call("work", {}) : say("too late")));
  const h = await harness({ model, tools: { work }, storage: new MemoryStore(data) });
  const { inputId } = await h.post({ content: "go", delivery: "send" });
  const threadId = h.getCurrentThreadId()!;
  const signal = await started;
  const closed = h.close({ drainMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(signal.aborted, false);
  finish();
  await closed;
  assert.equal(asked, 1);
  const next = await harness({ model: script(say("done")), tools: { work }, storage: new MemoryStore(data) });
  await next.switchThread({ threadId });
  assert.equal((await next.resultOf({ inputId })).reason, "complete");
  const ends = (await next.listEvents()).filter((event) => event.type === "tool_end");
  assert.deepEqual(
    ends.map(({ result, isError }) => [result.content, isError]),
    [["worked", false]],
  );
  await next.close();
});

test("a call that outlasts drainMs is stopped then", async () => {
  const { work, started } = obedient();
  const h = await harness({ model: script(call("work", {}), say("never")), tools: { work } });
  await h.post({ content: "go", delivery: "send" });
  const signal = await started;
  await h.close({ drainMs: 10 });
  assert.equal(signal.aborted, true);
});

test("an answer that streams is kept whole, and its calls are left to the next process", async () => {
  const data = new MemoryData();
  const streaming = Promise.withResolvers<void>();
  const streamed = Promise.withResolvers<void>();
  const { note, runs } = noting();
  const slowly: Step = async function* (options) {
    streaming.resolve();
    await streamed.promise;
    yield* call("note", { what: "x" })(options);
  };
  const model = script(slowly, say("done"));
  const h = await harness({ model, tools: { note }, storage: new MemoryStore(data) });
  const { inputId } = await h.post({ content: "go", delivery: "send" });
  const threadId = h.getCurrentThreadId()!;
  await streaming.promise;
  const closed = h.close({ drainMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  streamed.resolve();
  await closed;
  assert.deepEqual(runs, []);
  assert.deepEqual(await begun(data, threadId), []);
  await using next = await harness({ model, tools: { note }, storage: new MemoryStore(data) });
  await next.switchThread({ threadId });
  assert.equal((await next.resultOf({ inputId })).reason, "complete");
  assert.equal(runs.length, 1);
  assert.deepEqual(texts(await next.listEvents()), ["user: go", "assistant: tool-call", "assistant: done"]);
});

test("queued calls of the same answer do not begin while a harness closes", async () => {
  const data = new MemoryData();
  const { gate, started, open } = gated();
  const { note, runs } = noting();
  const model = script(call(["gate", {}], ["note", { what: "x" }]), say("done"));
  const options = { model, tools: { gate, note }, interruptOn: { note: true as const } };
  const h = await harness({ ...options, storage: new MemoryStore(data) });
  await h.post({ content: "go", delivery: "send" });
  const threadId = h.getCurrentThreadId()!;
  await started;
  await using other = await harness({ ...options, storage: new MemoryStore(data) });
  await other.switchThread({ threadId });
  const closed = h.close({ drainMs: 20_000 });
  await other.respondToToolApproval({ decision: "approve" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(runs, []);
  assert.deepEqual(await begun(data, threadId), ["gate"]);
  open();
  await closed;
  await other.settled();
  assert.equal(runs.length, 1);
});

test("another process can abort the turn while its driver drains", async () => {
  const data = new MemoryData();
  const { work, started } = obedient();
  const options = { model: script(call("work", {}), say("never")), tools: { work } };
  const h = await harness({ ...options, storage: new MemoryStore(data) });
  await h.post({ content: "go", delivery: "send" });
  const threadId = h.getCurrentThreadId()!;
  await started;
  await using other = await harness({ ...options, storage: new MemoryStore(data) });
  await other.switchThread({ threadId });
  const closed = h.close({ drainMs: 20_000 });
  await other.abort();
  assert.equal(other.getDisplayState().status, "idle");
  await closed;
});

test("close with drainMs: 0 stops what runs at once", async () => {
  const { work, started } = obedient();
  const h = await harness({ model: script(call("work", {}), say("never")), tools: { work } });
  await h.post({ content: "go", delivery: "send" });
  const signal = await started;
  const closed = h.close({ drainMs: 0 });
  while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1));
  await closed;
});

test("close does not wait for a store that has failed, if nothing runs", async () => {
  let hasFailed = false;
  const fails = async (method: string) => {
    if (hasFailed && method !== "close") throw new CinchError("STORE_FAILED", "The disk has an error.");
  };
  const model = scriptedBy(() => {
    hasFailed = true;
    return say("Not recorded.");
  });
  const h = await harness({ model, storage: wrapped(memoryStore(), fails) });
  await assert.rejects(h.sendMessage({ content: "go" }), { code: "STORE_FAILED" });
  const limit = new Promise((resolve) => setTimeout(resolve, 60_000, "too late").unref());
  assert.equal(await Promise.race([h.close({ drainMs: 600_000 }).then(() => "closed"), limit]), "closed");
});
