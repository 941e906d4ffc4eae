import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, defineTool, type DurableEvent } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions, type AppendResult } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness } from "../support.ts";

/** A store that needs a moment for each commit, notes it, refuses a bad text, and fails after it has written a cursed one. */
class SlowStore extends MemoryStore {
  readonly commits: string[][] = [];
  isAway = false;
  tries = 0;

  override async append(threadId: string, events: readonly StampedEvent[], how: AppendOptions): Promise<AppendResult> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.tries++;
    if (this.isAway) throw new CinchError("STORE_BUSY", "The store is away.");
    const says = (text: string) => events.some((event) => event.type === "input_accepted" && event["content"] === text);
    if (says("bad")) throw new CinchError("INVALID_INPUT", "The store refuses this text.");
    const result = await super.append(threadId, events, how);
    if (result.kind !== "appended") return result;
    if (says("cursed")) throw new CinchError("STORE_FAILED", "The connection is lost.");
    this.commits.push(events.map(({ type }) => type));
    return result;
  }
}

const quick = defineTool({ description: "Ends at once", input: z.object({}), execute: () => "ended" });

/** A turn that runs until the gate is opened, and sessions at its thread. */
async function running(data: MemoryData, seats: number) {
  const storage = new SlowStore(data);
  const { gate, started, open } = gated();
  const h = await harness({ model: script(call("gate"), say("done")), tools: { gate }, storage });
  const result = h.sendMessage({ content: "go" });
  await started;
  const threadId = h.getCurrentThreadId()!;
  const sessions = await Promise.all(Array.from({ length: seats }, () => h.createSession({ threadId })));
  const end = async () => {
    open();
    await result;
    await h.close();
    return new MemoryStore(data).read(threadId);
  };
  return { sessions, storage, end };
}

const inputsIn = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) => (event.type === "input_accepted" ? [event.content] : []));

test("calls that end while a commit is written share the next one", async () => {
  const storage = new SlowStore(new MemoryData());
  const calls = Array.from({ length: 20 }, (): [string, object] => ["quick", {}]);
  await using h = await harness({ model: script(call(...calls), say("done")), tools: { quick }, storage });
  const { reason } = await h.sendMessage({ content: "go" });
  assert.equal(reason, "complete");
  const ends = storage.commits.filter((types) => types.includes("tool_end"));
  assert.equal(ends.flat().filter((type) => type === "tool_end").length, 20);
  assert.equal(ends.flat().at(-1), "step_end");
  assert.ok(ends.length <= 3, `${ends.length} commits`);
});

test("a decision knows what the decisions before it in its commit append", async () => {
  const { sessions, end } = await running(new MemoryData(), 4);
  await Promise.all(sessions.map((session, at) => session.steer({ content: `${at}`, id: at < 2 ? "a" : "b" })));
  assert.deepEqual(inputsIn(await end()), ["go", "0", "2"]);
});

test("a decision that the store refuses does not fail those that wait with it", async () => {
  const { sessions, end } = await running(new MemoryData(), 5);
  const steered = await Promise.allSettled(
    sessions.map((session, at) => session.steer({ content: at === 2 ? "bad" : `${at}` })),
  );
  assert.deepEqual(
    steered.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"],
  );
  assert.deepEqual(inputsIn(await end()), ["go", "0", "1", "3", "4"]);
});

test("a store that is away is asked once for all decisions that share a commit, and each fails", async () => {
  const { sessions, storage, end } = await running(new MemoryData(), 5);
  storage.isAway = true;
  const before = storage.tries;
  const steered = await Promise.allSettled(sessions.map((session, at) => session.steer({ content: `${at}` })));
  assert.deepEqual(
    steered.map((one) => one.status === "rejected" && (one.reason as CinchError).code),
    Array.from(sessions, () => "STORE_BUSY"),
  );
  // The first one may be on its way when the others come.
  assert.ok(storage.tries - before <= 2, `${storage.tries - before} tries`);
  storage.isAway = false;
  await sessions[0]!.steer({ content: "again" });
  assert.deepEqual(inputsIn(await end()), ["go", "again"]);
});

test("decisions of a commit that failed, and may have been written, are not made again", async () => {
  const { sessions, end } = await running(new MemoryData(), 3);
  const steered = await Promise.allSettled(sessions.map((session) => session.steer({ content: "cursed" })));
  assert.deepEqual(
    steered.map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  assert.deepEqual(inputsIn(await end()), ["go", "cursed", "cursed", "cursed"]);
});

test("decisions that share a commit are made again if another process has appended first", async () => {
  const data = new MemoryData();
  const { sessions, end } = await running(data, 3);
  await using other = await harness({ model: script(), storage: new MemoryStore(data) });
  await other.switchThread({ threadId: sessions[0]!.getCurrentThreadId()! });
  const steered = sessions.map((session, at) => session.steer({ content: `${at}`, id: at === 2 ? "x" : `${at}` }));
  // In the journal at once, while the others are on their way.
  await other.steer({ content: "first", id: "x" });
  await Promise.all(steered);
  assert.deepEqual(inputsIn(await end()), ["go", "first", "0", "1"]);
});
