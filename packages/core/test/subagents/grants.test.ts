import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { noting } from "../support.ts";

test("always_allow for a call that the rule of an agent in between asks about is a grant of that agent's thread", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const leaf = new Agent({
    name: "leaf",
    model: scriptedBy(({ prompt }) =>
      prompt.filter(({ role }) => role === "tool").length < 2 ? call("note", { what: "x" }) : say("Noted."),
    ),
    tools: { note },
  });
  const middle = new Agent({
    name: "middle",
    model: script(call("task", { agent: "leaf", prompt: "Note it" }), say("Done.")),
    tools: {},
    subagents: [leaf],
    permissions: [{ toolName: "note", policy: "ask" }],
  });
  const model = script(call("task", { agent: "middle", prompt: "Go" }), say("Done."));
  const storage = memoryStore();
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "top", model, subagents: [middle], maxSubagentDepth: 2 }),
    storage,
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  await h.respondToToolApproval({ decision: "always_allow_tool" });
  assert.equal((await turn).reason, "complete");
  const [ofMiddle] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const granted: string[] = [];
  for (const { id } of await storage.threads())
    for (const event of await storage.read(id)) if (event.type === "grant_added") granted.push(id);
  assert.deepEqual([granted, h.getSessionGrants(), runs.length], [[ofMiddle!.id], [], 2]);
  await h.close();
});
