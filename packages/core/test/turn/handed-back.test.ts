import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, newDisplayState, reduceDisplay, type HarnessEvent } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions, type AppendResult } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { gated, harness, noting } from "../support.ts";

/** Calls back when `tool_start` is in the journal, before the driver gets the result of the append. */
class TellingStore extends MemoryStore {
  started: (() => void) | undefined;
  override async append(id: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    const result = await super.append(id, events, options);
    if (result.kind === "appended" && events.some(({ type }) => type === "tool_start")) this.started?.();
    return result;
  }
}

const cases = { "with its answer": "allow", "with an approval": "ask" } as const;
for (const [how, policy] of Object.entries(cases))
  test(`a call that is recorded ${how} while its process closes is run once, by the next process`, async () => {
    const data = new MemoryData();
    const storage = new TellingStore(data);
    const { note, runs } = noting();
    const model = () => script(call("note", { what: "it" }), say("done"));
    const permissions = [{ category: "other" as const, policy }];
    await using one = await harness({ storage, model: model(), tools: { note }, permissions });
    const { id } = await one.selectOrCreateThread();
    await one.post({ content: "go", delivery: "send" });
    const left = Promise.withResolvers<void>();
    storage.started = () => left.resolve(one.close());
    if (policy === "ask") {
      await one.settled();
      // The process that answers closes at once.
      await one.respondToToolApproval({ decision: "approve" });
    }
    await left.promise;
    assert.deepEqual(runs, []);
    const events = (await new MemoryStore(data).read(id)) as HarnessEvent[];
    const { activeTools } = events.reduce(reduceDisplay, newDisplayState(id));
    assert.deepEqual(
      Object.values(activeTools).map(({ status }) => status),
      ["pending"],
    );
    await using two = await harness({ storage: new MemoryStore(data), model: model(), tools: { note }, permissions });
    await two.switchThread({ threadId: id });
    assert.deepEqual(await two.settled(), { status: "idle", pending: [] });
    const ends = (await two.listMessages()).flatMap(({ outcomes }) => Object.values(outcomes));
    assert.deepEqual(
      ends.map(({ result, isError, unknown }) => ({ ...result, isError, unknown })),
      [{ content: "noted it", isError: false, unknown: false }],
    );
    assert.equal(runs.length, 1);
  });

test("a call that has run when its process closes is not handed back", async () => {
  const data = new MemoryData();
  const { note, runs } = noting();
  const leaving = defineTool({
    description: "Notes, while the process leaves",
    input: z.object({ what: z.string() }),
    async execute({ what }, { key }) {
      runs.push({ what, key });
      one.close().catch(() => undefined);
      return "noted";
    },
  });
  const model = () => script(call("note", { what: "it" }), say("done"));
  await using one = await harness({ storage: new MemoryStore(data), model: model(), tools: { note: leaving } });
  const { id } = await one.selectOrCreateThread();
  await one.post({ content: "go", delivery: "send" });
  await one.close();
  await using two = await harness({ storage: new MemoryStore(data), model: model(), tools: { note } });
  await two.switchThread({ threadId: id });
  await two.settled();
  assert.equal(runs.length, 1);
});

test("a call that was interrupted once, and whose next process closes, is not recorded as unstarted", async () => {
  const data = new MemoryData();
  const { gate, started } = gated("idempotent");
  const model = () => script(call("gate"), say("done"));
  const dying = new MemoryStore(data);
  await using one = await harness({ storage: dying, model: model(), tools: { gate } });
  await one.post({ content: "go", delivery: "send" });
  await started;
  dying.die();
  const storage = new TellingStore(data);
  await using two = await harness({ storage, model: model(), tools: { gate } });
  const left = Promise.withResolvers<void>();
  storage.started = () => left.resolve(two.close());
  await two.selectOrCreateThread();
  await left.promise;
  const permissions = [{ toolName: "gate", policy: "deny" as const }];
  await using three = await harness({ storage: new MemoryStore(data), model: model(), tools: { gate }, permissions });
  await three.selectOrCreateThread();
  await three.settled();
  const [end] = (await three.listMessages()).flatMap(({ outcomes }) => Object.values(outcomes));
  assert.equal(end?.unknown, true, JSON.stringify(end));
});

test("a question that a tool asks while its process closes waits for its answer", async () => {
  const data = new MemoryData();
  const runs: string[] = [];
  const asks = defineTool({
    description: "Does something, and asks",
    input: z.object({}),
    async execute(_, { suspend, resumed }) {
      runs.push(resumed ? "again" : "first");
      if (resumed) return "answered";
      left.resolve(one.close());
      await Promise.resolve();
      return suspend({ question: "Which?" });
    },
  });
  const left = Promise.withResolvers<void>();
  const model = () => script(call("asks"), say("done"));
  await using one = await harness({ storage: new MemoryStore(data), model: model(), tools: { asks } });
  await one.post({ content: "go", delivery: "send" });
  await left.promise;
  await using two = await harness({ storage: new MemoryStore(data), model: model(), tools: { asks } });
  await two.selectOrCreateThread();
  assert.equal((await two.settled()).status, "waiting");
  await two.respondToToolSuspension({ resumeData: "this" });
  assert.deepEqual(await two.settled(), { status: "idle", pending: [] });
  assert.deepEqual(runs, ["first", "again"]);
});

test("a call that was stopped while it ran is not handed back with one that was not run", async () => {
  const data = new MemoryData();
  const storage = new TellingStore(data);
  const { note, runs } = noting();
  const begun = Promise.withResolvers<void>();
  const stopped: string[] = [];
  const slow = defineTool({
    description: "Works until it is stopped",
    input: z.object({}),
    async execute(_, { key, signal }) {
      if (stopped.push(key) > 1) return "ran again";
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new Error("stopped");
    },
  });
  const model = () => script(call(["slow", {}, "a"], ["note", { what: "it" }, "b"]), say("done"));
  const permissions = [{ toolName: "slow", policy: "allow" as const }];
  const tools = { slow, note };
  await using one = await harness({ storage, model: model(), tools, permissions });
  const { id } = await one.selectOrCreateThread();
  await one.post({ content: "go", delivery: "send" });
  await begun.promise;
  const left = Promise.withResolvers<void>();
  storage.started = () => left.resolve(one.close());
  await one.respondToToolApproval({ toolCallId: "b", decision: "approve" });
  await left.promise;
  await using two = await harness({ storage: new MemoryStore(data), model: model(), tools, permissions });
  await two.switchThread({ threadId: id });
  await two.settled();
  const outcomes = Object.assign({}, ...(await two.listMessages()).map((message) => message.outcomes)) as Record<
    string,
    { unknown: boolean }
  >;
  assert.deepEqual([outcomes["a"]?.unknown, outcomes["b"]?.unknown], [true, false]);
  assert.deepEqual([stopped.length, runs.length], [1, 1]);
});
