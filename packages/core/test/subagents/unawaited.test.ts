import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type ToolSet } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, script, type Step } from "@cinch/testkit";
import { noting } from "../support.ts";

/** Explore starts a search in the background, and reports without waiting for it. */
function tree(
  storage: MemoryStore,
  searching: Step,
  { tools = {}, explored = say("Explored.") }: { tools?: ToolSet; explored?: Step } = {},
) {
  const search = new Agent({ name: "search", model: script(searching, say("Found.")), tools });
  const explore = new Agent({
    name: "explore",
    model: script(call("task", { agent: "search", prompt: "Search", background: true }), explored),
    tools: {},
    subagents: [search],
    subagentBackground: true,
  });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("Done."));
  const agent = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  return new Harness({ id: "t", agent, storage });
}

const ends = async (storage: MemoryStore) => {
  const threads = await storage.threads();
  const events = await Promise.all(threads.map(({ id }) => storage.read(id)));
  return {
    active: threads.filter(({ active }) => active).length,
    ends: events.flat().flatMap((event) => (event.type === "subagent_end" ? `${event.agentName} ${event.status}` : [])),
  };
};

test("what a subagent has started in the background and not awaited ends with its run", async () => {
  const storage = new MemoryStore(new MemoryData());
  const h = tree(storage, hang("Searching"));
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.equal((await h.settled()).status, "idle");
  const { active, ends: ended } = await ends(storage);
  assert.deepEqual([active, ended.toSorted()], [0, ["explore complete", "search aborted"]]);
  await h.close();
});

test("a run that a subagent has not awaited leaves no question behind", async () => {
  const storage = new MemoryStore(new MemoryData());
  const h = tree(storage, call("note", { what: "x" }), { tools: { note: noting().note } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.equal((await ends(storage)).active, 0);
  await h.close();
});

test("what an ended run has left in the background counts for the tree", async () => {
  const storage = new MemoryStore(new MemoryData());
  const asked = Promise.withResolvers<void>();
  const explored: Step = async function* (options) {
    await asked.promise;
    yield* say("Explored.")(options);
  };
  const h = tree(storage, call("note", { what: "x" }), { tools: { note: noting().note }, explored });
  h.subscribe((event) => {
    if (event.type === "subagent_event" && event.status === "waiting") asked.resolve();
  });
  await h.sendMessage({ content: "go" });
  await h.settled();
  // Two steps of dev, two of explore, and one of search.
  assert.equal(h.getTokenUsage().inputTokens, 500);
  await h.close();
});
