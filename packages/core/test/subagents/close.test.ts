import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, Harness, memoryStore, type HarnessEvent, type SubagentCatalog } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions, type AppendResult } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, hang, say, script } from "@cinch/testkit";
import { countingClock } from "../counting-clock.ts";
import { waitingClock } from "../../../testkit/test/waiting-clock.ts";
import { next } from "../support.ts";

/** Settles when the harness reports something that begins so. */
function reported(h: Harness, what: string): Promise<void> {
  return new Promise((resolve) => {
    h.subscribe((event: HarnessEvent) => {
      const inner = (event.type === "subagent_event" ? event.event : event) as HarnessEvent;
      if (inner.type === "info" && inner.message.startsWith(what)) resolve();
    });
  });
}

const worker = () => new Agent({ name: "worker", model: script(say("ok")), tools: {} });
const never = new Promise<never>(() => undefined);

/** The store of a process that can't write the threads of subagents. */
class WithoutChildren extends MemoryStore {
  override async append(id: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    if (id.startsWith("sub_")) throw new CinchError("STORE_FULL", "No space is left.");
    return super.append(id, events, options);
  }
}

const task = call("task", { agent: "worker", prompt: "x" });

test("while a run can't be started, close() leaves no timer", async () => {
  const clock = countingClock();
  const agent = new Agent({ name: "dev", model: script(task), subagents: [worker()] });
  const h = new Harness({ id: "t", agent, storage: new WithoutChildren(new MemoryData()), clock });
  const failed = reported(h, 'The subagent "worker" could not be followed');
  await h.post({ content: "go", delivery: "send" });
  await failed;
  await h.close();
  assert.equal(clock.pending.size, 0);
});

test("while a catalog fails, close() leaves no timer", async () => {
  const clock = countingClock();
  let isFirst = true;
  const failed = Promise.withResolvers<void>();
  const resolve: SubagentCatalog["resolve"] = async () => {
    if (isFirst) {
      isFirst = false;
      return worker();
    }
    failed.resolve();
    throw new Error("down");
  };
  const subagents = { list: async () => [], resolve };
  const agent = new Agent({ name: "dev", model: script(task), subagents });
  const h = new Harness({ id: "t", agent, clock });
  await h.post({ content: "go", delivery: "send" });
  await failed.promise;
  await h.close();
  assert.equal(clock.pending.size, 0);
});

for (const hangs of ["list", "resolve"] as const) {
  test(`close() does not wait for a catalog whose ${hangs} hangs`, async () => {
    const clock = countingClock();
    const asked = Promise.withResolvers<void>();
    const unanswered = () => {
      asked.resolve();
      return never;
    };
    const subagents = { list: async () => [], resolve: async () => worker(), [hangs]: unanswered };
    const agent = new Agent({ name: "dev", model: script(task), subagents });
    const h = new Harness({ id: "t", agent, clock });
    await h.post({ content: "go", delivery: "send" });
    await asked.promise;
    const start = clock.now();
    await h.close();
    assert.equal(clock.pending.size, 0);
    assert.ok(clock.now() - start < 5_000);
  });
}

test("close() does not wait for a catalog that hangs when a subagent is opened", async () => {
  const data = new MemoryData();
  let opened = 0;
  const asked = Promise.withResolvers<void>();
  const resolve: SubagentCatalog["resolve"] = async () => {
    if (++opened === 1) return worker();
    asked.resolve();
    return never;
  };
  const clock = countingClock();
  const agent = new Agent({ name: "dev", model: script(task), subagents: { list: async () => [], resolve } });
  const h = new Harness({ id: "t", agent, storage: memoryStore(data), clock });
  await h.post({ content: "go", delivery: "send" });
  await asked.promise;
  const start = clock.now();
  await h.close();
  assert.equal(clock.pending.size, 0);
  assert.ok(clock.now() - start < 5_000);
});

test("while the journal can't be read, close() leaves no timer", async () => {
  const data = new MemoryData();
  let isDown = false;
  class Failing extends MemoryStore {
    override async read(...args: Parameters<MemoryStore["read"]>) {
      if (isDown) throw new CinchError("STORE_BUSY", "The file is locked.");
      return super.read(...args);
    }

    override follow(threadId: string, changed: (seq?: number) => void) {
      return super.follow(threadId, (seq) => changed(seq));
    }
  }
  const clock = countingClock();
  const agent = new Agent({ name: "dev", model: script(say("ok")) });
  const h = new Harness({ id: "t", agent, storage: new Failing(data), clock });
  const { id } = await h.createThread();
  const failed = reported(h, "The thread could not be followed");
  isDown = true;
  const renamed = { type: "thread_renamed", title: "x", v: 1, at: 0 } as StampedEvent;
  await memoryStore(data).append(id, [renamed], { afterSeq: 1 });
  await failed;
  await h.close();
  assert.equal(clock.pending.size, 0);
});

test("close() does not wait for background subagents that can't be stopped", async () => {
  const data = new MemoryData();
  class Full extends MemoryStore {
    override async append(id: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
      if (events.some(({ type }) => type === "agent_end") && id.startsWith("sub_"))
        throw new CinchError("STORE_FULL", "No space is left.");
      return super.append(id, events, options);
    }
  }
  const hangs = new Agent({ name: "worker", model: script(hang("…")), tools: {} });
  const model = script(call("task", { agent: "worker", prompt: "x", background: true }), say("ok"));
  const agent = new Agent({ name: "dev", model, subagents: [hangs], subagentBackground: true });
  const clock = waitingClock();
  const h = new Harness({ id: "t", agent, storage: new Full(data), clock });
  const begun = next(h, "subagent_text_delta");
  await h.sendMessage({ content: "go" });
  await begun;
  const start = clock.now();
  await h.close();
  assert.ok(clock.now() - start < 10_000);
});
