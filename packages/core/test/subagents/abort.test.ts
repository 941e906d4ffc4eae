import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, hang, say, script } from "@cinch/testkit";

test("an abort ends all descendants before the turn has ended", async () => {
  const search = new Agent({ name: "search", model: script(hang("searching")), tools: {} });
  const explore = new Agent({
    name: "explore",
    model: script(call("task", { agent: "search", prompt: "Search" }), say("never")),
    tools: {},
    subagents: [search],
  });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("never"));
  const dev = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent: dev, storage });
  const turn = h.sendMessage({ content: "go" });
  const texts = new Promise<string[]>((resolve) => {
    h.subscribe((event) => event.type === "subagent_text_delta" && resolve([...event.path]));
  });
  assert.deepEqual(await texts, ["explore", "search"]);
  assert.equal(h.getDisplayState().status, "running");
  const started = Date.now();
  await h.abort();
  assert.ok(Date.now() - started < 2_000);
  assert.equal((await turn).reason, "aborted");
  const threads = await storage.threads();
  assert.deepEqual(
    threads.map(({ active }) => active),
    [false, false, false],
  );
  assert.equal(h.getDisplayState().status, "idle");
  await h.close();
});
