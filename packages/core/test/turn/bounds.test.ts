import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type HarnessEvent, type Store } from "@cinch/core";
import { stamp, type NewEvent } from "@cinch/core/journal";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness, next } from "../support.ts";

/** Appends commands as another process would, without waiting for each. */
async function appendAll(store: Store, id: string, events: NewEvent[]): Promise<void> {
  const [last] = await store.read(id, { last: true, limit: 1 });
  const stamped = events.map((event) => stamp(event, 1));
  assert.equal((await store.append(id, stamped, { afterSeq: last!.seq })).kind, "appended");
}

test("a thread can have a thousand rules; one more is refused, unless it denies", async () => {
  const storage = memoryStore();
  await using h = await harness({ model: script(say("x")), storage });
  const { id } = await h.createThread();
  const rules = Array.from({ length: 1_000 }, (_, at) => ({ toolName: `tool_${at}`, policy: "ask" as const }));
  await appendAll(
    storage,
    id,
    rules.map((rule) => ({ type: "permission_changed", rule })),
  );
  await assert.rejects(h.setPermissionForTool({ toolName: "more", policy: "allow" }), { code: "INVALID_INPUT" });
  await assert.rejects(h.grantSessionTool({ toolName: "more" }), { code: "INVALID_INPUT" });
  await h.setPermissionForTool({ toolName: "more", policy: "deny" });
  assert.equal(h.getPermissionRules().filter(({ policy }) => policy === "deny").length, 1);
});

test("a thousand inputs can be queued, and one more is refused with an error that says what to do", async () => {
  const storage = memoryStore();
  const { gate, open, started } = gated();
  await using h = await harness({ model: script(call("gate"), say("done")), tools: { gate }, storage });
  const { id } = await h.createThread();
  await h.post({ content: "go", delivery: "send" });
  await started;
  const inputs = Array.from({ length: 1_000 }, (_, at): NewEvent => {
    return { type: "input_accepted", inputId: `i${at}`, delivery: "follow_up", content: "more" };
  });
  await appendAll(storage, id, inputs);
  await assert.rejects(h.followUp({ content: "one more" }), { code: "INVALID_INPUT", message: /removeInput/ });
  assert.equal((await h.listInbox()).length, 1_000);
  const aborted = h.abort({ inbox: true });
  open();
  await aborted;
});

test("details that are too large are replaced by the reason", async () => {
  const lavish = defineTool({
    description: "Gives a lot",
    input: z.object({}),
    execute: () => ({ content: "small", details: { text: "x".repeat(1_000_001) } }),
  });
  await using h = await harness({ model: script(call("lavish"), say("done")), tools: { lavish } });
  const end = next(h, "tool_end");
  await h.sendMessage({ content: "go" });
  const { result } = await end;
  assert.match(JSON.stringify(result), /^\{"content":"small","details":\{"leftOut":"10000\d\d characters/);
});

test("a client that is thousands of events behind gets all of them, in order", async () => {
  const storage = memoryStore();
  await using h = await harness({ model: script(say("x")), storage });
  const { id } = await h.createThread();
  const changes = Array.from({ length: 2_500 }, (_, at): NewEvent => ({ type: "state_changed", updates: { at } }));
  await appendAll(storage, id, changes);
  await h.setState({ last: true });
  const seen: number[] = [];
  const off = h.subscribe((event) => "seq" in event && event.type === "state_changed" && seen.push(event.seq), {
    since: 1,
  });
  while (seen.length < 2_501) await new Promise((resolve) => setTimeout(resolve, 5));
  off();
  assert.deepEqual(
    seen,
    Array.from({ length: 2_501 }, (_, at) => at + 2),
  );
});

test("a subscriber with a `since` from the future gets a resync", async () => {
  await using h = await harness({ model: script(say("x")) });
  await h.createThread();
  const seen: HarnessEvent[] = [];
  h.subscribe((event) => seen.push(event), { since: 999 });
  await h.setState({ a: 1 });
  assert.deepEqual(
    seen.map(({ type }) => type).filter((type) => type !== "display_state_changed"),
    ["resync", "state_changed"],
  );
});
