import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, textOf } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { noting } from "../support.ts";

function tree(storage: MemoryStore, runs: unknown[]) {
  const { note } = noting(runs);
  const search = new Agent({
    name: "search",
    model: script(call("note", { what: "x" }), say("Found x.")),
    tools: { note },
  });
  const explore = new Agent({
    name: "explore",
    model: script(call("task", { agent: "search", prompt: "Search" }), say("Explored.")),
    tools: {},
    subagents: [search],
  });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("All done."));
  const dev = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  return { h: new Harness({ id: "t", agent: dev, storage }), model };
}

test("a grandchild's approval is answered in another process after the first one died", async () => {
  const data = new MemoryData();
  const runs: unknown[] = [];
  const first = new MemoryStore(data);
  const { h: dying } = tree(first, runs);
  dying.sendMessage({ content: "go" }).catch(() => undefined);
  assert.equal((await dying.settled()).status, "waiting");
  const threadId = dying.getCurrentThreadId()!;
  first.die();

  const { h, model } = tree(new MemoryStore(data), runs);
  await h.init();
  const session = await h.createSession({ threadId });
  const { status, pending } = await session.settled();
  assert.deepEqual([status, pending.map(({ path }) => path)], ["waiting", [["explore", "search"]]]);
  await session.respondToToolApproval({ decision: "approve" });
  assert.equal((await session.settled()).status, "idle");
  const last = session.getDisplayState().messages.at(-1)!;
  assert.deepEqual([textOf(last.content), runs.length, model.requests.length], ["All done.", 1, 1]);
  await h.close();
  await dying.close().catch(() => undefined);
});
