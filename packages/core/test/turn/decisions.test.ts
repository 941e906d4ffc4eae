import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type DurableEvent } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { newThreadState, reduceThread, stamp, type NewEvent, type StampedEvent } from "@cinch/core/journal";
import { call, finish, parts, say, script } from "@cinch/testkit";
import * as z from "zod";
import { digestOf } from "../../src/permissions/gate.ts";
import { needsDriving } from "../../src/turn/decide.ts";
import { gated, harness, next, noting } from "../support.ts";

const folded = (...events: NewEvent[]) =>
  events.reduce(
    (state, event, at) => reduceThread(state, { ...stamp(event, at), seq: at + 1, threadId: "t" } as DurableEvent),
    newThreadState,
  );

const begins: NewEvent[] = [
  { type: "thread_created", title: "", resourceId: "r" },
  { type: "agent_start", turnId: "now", modeId: "m", modelId: "m", resumed: false },
];
const calls: NewEvent = {
  type: "message_end",
  turnId: "now",
  message: {
    id: "m",
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "a", toolName: "t", input: {} },
      { type: "tool-call", toolCallId: "b", toolName: "t", input: {} },
    ],
  },
};
const died: NewEvent = {
  type: "agent_start",
  turnId: "now",
  modeId: "m",
  modelId: "m",
  resumed: true,
  takeover: true,
};

test("an abort that was meant for an earlier turn does not end this one", () => {
  assert.equal(folded(...begins, { type: "abort_requested", turnId: "before" }).turn?.aborting, false);
  assert.equal(folded(...begins, { type: "abort_requested", turnId: "now" }).turn?.aborting, true);
});

test("a call that ends is progress: earlier takeovers no longer count", () => {
  const end: NewEvent = {
    type: "tool_end",
    toolCallId: "a",
    toolName: "t",
    result: { content: "" },
    isError: false,
    durationMs: 1,
  };
  assert.equal(folded(...begins, calls, died, died).takeovers, 2);
  assert.equal(folded(...begins, calls, died, died, end).takeovers, 0);
});

test("time in which no process drove the turn is not counted as work", () => {
  const at = (ms: number, event: NewEvent) => ({ ...stamp(event, ms), threadId: "t" }) as DurableEvent;
  const end: NewEvent = {
    type: "tool_end",
    toolCallId: "a",
    toolName: "t",
    result: { content: "" },
    isError: false,
    durationMs: 1,
  };
  const events = [at(0, begins[0]!), at(0, begins[1]!), at(10, calls), at(5_000, died), at(5_007, end)];
  const state = events.reduce((before, event, seq) => reduceThread(before, { ...event, seq: seq + 1 }), newThreadState);
  assert.deepEqual([state.turn?.watch.ms, state.spent.ms], [17, 17]);
});

for (const effect of ["pure", "once"] as const) {
  test(`a driver whose lease was taken while a "${effect}" tool ran does nothing more`, async () => {
    const data = new MemoryData();
    const { gate, runs, open, started } = gated(effect);
    const model = script(call("gate"), say("done"));
    await using h = await harness({ model, tools: { gate }, storage: memoryStore(data) });
    const { id } = await h.createThread();
    await h.post({ content: "go", delivery: "send" });
    await started;
    const { epoch } = data.leases.get(id)!;
    data.leases.set(id, { epoch: epoch + 1, holder: memoryStore(data) });
    const before = await memoryStore(data).read(id);
    open();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual([runs.length, model.requests.length], [1, 1]);
    assert.deepEqual(await memoryStore(data).read(id), before);
  });
}

test("a digest does not depend on the order of keys, at any depth, and differs for other arguments", async () => {
  const digest = await digestOf("t", { a: 1, b: { c: [1, { d: 1, e: 2 }] } });
  assert.equal(await digestOf("t", { b: { c: [1, { e: 2, d: 1 }] }, a: 1 }), digest);
  assert.notEqual(await digestOf("t", { a: 1, b: { c: [1, { d: 1, e: 3 }] } }), digest);
  assert.notEqual(await digestOf("u", { a: 1, b: { c: [1, { d: 1, e: 2 }] } }), digest);
});

test("an answer in the name of the rules is refused", async () => {
  const { note, runs } = noting();
  await using h = await harness({
    model: script(call("note", { what: "x" }), say("done")),
    tools: { note },
    permissions: [],
  });
  const asked = next(h, "tool_approval_required");
  await h.post({ content: "go", delivery: "send" });
  await asked;
  await assert.rejects(h.respondToToolApproval({ decision: "approve", by: "rules" }), { code: "INVALID_INPUT" });
  assert.deepEqual([runs, h.getDisplayState().status], [[], "waiting"]);
});

test("a rule for a tool replaces the grant for it", async () => {
  await using h = await harness({ model: script(say("x")) });
  await h.createThread();
  await h.grantSessionTool({ toolName: "note" });
  await h.grantSessionTool({ toolName: "note", match: "a" });
  await h.setPermissionForTool({ toolName: "note", policy: "ask" });
  assert.deepEqual(h.getSessionGrants(), [{ toolName: "note", match: "a", policy: "allow" }]);
});

test("a clone begins without the grants of its source", async () => {
  await using h = await harness({ model: script(say("x")) });
  await h.createThread();
  await h.grantSessionTool({ toolName: "note" });
  await h.cloneThread();
  assert.deepEqual(h.getSessionGrants(), []);
});

test("a call does not start if the turn is aborted while the call is judged", async () => {
  const { note, runs } = noting();
  const abort = Promise.withResolvers<() => Promise<void>>();
  const judged = defineTool({
    ...note,
    input: z.object({ what: z.string() }),
    matches: async () => {
      await (
        await abort.promise
      )();
      return "all" as const;
    },
  });
  await using h = await harness({
    model: script(call("judged", { what: "x" }), say("done")),
    tools: { judged },
    permissions: [{ toolName: "judged", match: "x", policy: "allow" }],
  });
  const requested = next(h, "abort_requested");
  const ended = h.sendMessage({ content: "go" });
  let under: Promise<void> | undefined;
  abort.resolve(async () => {
    under ??= h.abort();
    await requested;
  });
  assert.equal((await ended).reason, "aborted");
  await under;
  assert.deepEqual([runs, h.seen.filter(({ type }) => type === "tool_start")], [[], []]);
});

test("an answer that reached the length limit runs none of its calls", async () => {
  const { note, runs } = noting();
  const cut = parts(
    { type: "stream-start", warnings: [] },
    { type: "tool-call", toolCallId: "c", toolName: "note", input: '{"what":"half"}' },
    finish("length"),
  );
  await using h = await harness({ model: script(cut, say("done")), tools: { note } });
  const end = next(h, "tool_end");
  await h.sendMessage({ content: "go" });
  assert.deepEqual([runs, (await end).isError], [[], true]);
});

test("a thread that a newer release has written to is not driven, whatever is queued in it", async () => {
  const storage = memoryStore();
  const model = script(say("x"));
  await using h = await harness({ model, storage });
  const created = stamp({ type: "thread_created", title: "", resourceId: "default" }, 1);
  const input = stamp({ type: "input_accepted", inputId: "i", delivery: "send", content: "go" }, 1);
  const future = { type: "telepathy_received", v: 1, at: 1 } as unknown as StampedEvent;
  await storage.append("t", [created, input, future], { afterSeq: 0 });
  await h.switchThread({ threadId: "t" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const events = await storage.read("t");
  assert.deepEqual([model.requests.length, events.length], [0, 3]);
  assert.equal(needsDriving(events.reduce(reduceThread, newThreadState)), false);
});
