import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type HarnessConfig, type Placement } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { postgresStore } from "@cinch/postgres";
import { Place } from "./place.ts";
import { until } from "./until.ts";

/** Loses every wake: workers find every thread by themselves. */
const silent: Placement = { serve: async () => {}, wake: async () => {}, drain: async () => {} };
const THREADS = 6;

/** An agent that delegates. */
function delegating(): Agent {
  const search = new Agent({ name: "search", model: script(say("Found.")), tools: {} });
  const model = script(call("task", { agent: "search", prompt: "Search" }), say("All done."));
  return new Agent({ name: "dev", model, subagents: [search] });
}

test("without an engine, workers find the threads of a front and those of its subagents", async () => {
  await using place = await Place.make();
  const make = async (options: Partial<HarnessConfig> = {}) => {
    const storage = postgresStore(place.options);
    const h = place.add(new Harness({ id: "t", agent: delegating(), storage, placement: silent, ...options }));
    await h.init();
    return h;
  };
  const front = await make();
  const workers = [await make({ worker: { maxThreads: 4 } }), await make({ worker: { maxThreads: 4 } })];
  const sessions = await Promise.all(Array.from({ length: THREADS }, () => front.createSession()));
  for (const session of sessions) await session.createThread();
  const turns = await Promise.all(sessions.map((session) => session.sendMessage({ content: "go" })));
  assert.deepEqual([...new Set(turns.map(({ reason }) => reason))], ["complete"]);
  await until("every thread rests", async () => {
    const { awake, drivenByAll } = await front.metrics();
    return awake === 0 && drivenByAll === 0;
  });
  const { driven, takeovers, store } = await workers[0]!.metrics();
  assert.deepEqual([driven, takeovers], [0, 0]);
  assert.ok(store?.pool && store.pool.size <= 8);
  assert.equal((await front.metrics()).takeovers, 0);
});
