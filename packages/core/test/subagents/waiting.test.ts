import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type Clock } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { noting } from "../support.ts";

/** The system's time, and how many callbacks are due. */
function countingClock(): Clock & { due: number } {
  const clock = {
    due: 0,
    now: () => Date.now(),
    after(ms: number, callback: () => void) {
      clock.due++;
      let isDue = true;
      const settle = () => {
        if (isDue) clock.due--;
        isDue = false;
      };
      const timer = setTimeout(() => {
        settle();
        callback();
      }, ms);
      return () => {
        settle();
        clearTimeout(timer);
      };
    },
  };
  return clock;
}

test("a tree that waits for a person holds no lease, no timer and no open thread, and continues with the answer", async () => {
  const data = new MemoryData();
  const clock = countingClock();
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const search = new Agent({
    name: "search",
    model: script(call("note", { what: "x" }), say("Found.")),
    tools: { note },
  });
  const explore = new Agent({
    name: "explore",
    model: script(call("task", { agent: "search", prompt: "s" }), say("Explored.")),
    tools: {},
    subagents: [search],
  });
  const model = script(call("task", { agent: "explore", prompt: "e" }), say("Done."));
  const agent = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  const h = new Harness({ id: "t", agent, storage: new MemoryStore(data), clock });
  await h.init();
  const session = await h.createSession();
  await session.post({ content: "go", delivery: "send" });
  assert.equal((await session.settled()).status, "waiting");
  const threadId = session.getCurrentThreadId()!;
  await session.close();

  const held = () => ({
    leases: [...data.leases.values()].filter(({ holder }) => holder !== null).length,
    open: [...data.followers.values()].filter(({ size }) => size > 0).length,
    timers: clock.due,
  });
  const isFree = () => Object.values(held()).every((many) => many === 0);
  for (let tries = 0; !isFree() && tries < 6_000; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(held(), { leases: 0, open: 0, timers: 0 });

  const later = await h.createSession({ threadId });
  assert.equal((await later.settled()).status, "waiting");
  await later.respondToToolApproval({ decision: "approve" });
  assert.equal((await later.settled()).status, "idle");
  assert.deepEqual([runs.length, model.requests.length], [1, 2]);
  await h.close();
});
