import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, hang, say, script } from "@cinch/testkit";

test("a tree is idle after the thread of a subagent that waits for its own subagent was deleted", async () => {
  const search = new Agent({ name: "search", model: script(hang("…")), tools: {} });
  const delegating = script(call("task", { agent: "search", prompt: "S" }));
  const explore = new Agent({ name: "explore", model: delegating, tools: {}, subagents: [search] });
  const model = script(call("task", { agent: "explore", prompt: "E" }), say("Done."));
  const agent = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const isSearching = Promise.withResolvers<void>();
  h.subscribe((event) => {
    if (event.type === "subagent_text_delta") isSearching.resolve();
  });
  const turn = h.sendMessage({ content: "go" });
  await isSearching.promise;
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  await h.deleteThread({ threadId: child!.id });
  assert.equal((await turn).reason, "complete");
  assert.equal(h.getDisplayState().status, "idle");
  assert.equal((await h.settled()).status, "idle");
  await h.close();
});
