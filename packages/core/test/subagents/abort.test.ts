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

test("the ends of all children are recorded before that of the aborted turn, also while the parent works", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const tasks = ["a", "b"].map((prompt): [string, unknown] => ["task", { agent: "stuck", prompt, background: true }]);
  const model = script(call(...tasks), hang("Thinking"));
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: true });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  const turn = h.sendMessage({ content: "go" });
  while (h.getDisplayState().currentMessage === null || model.requests.length < 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  const types = (await storage.read(h.getCurrentThreadId()!)).map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type === "subagent_end" || type === "agent_end"),
    ["subagent_end", "subagent_end", "agent_end"],
  );
  await h.close();
});
