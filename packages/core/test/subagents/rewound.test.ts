import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, say, scriptedBy, script } from "@cinch/testkit";
import { noting } from "../support.ts";

const background = (prompt: string) => call("task", { agent: "worker", prompt, background: true });

test("the question of a background subagent is shown and can be answered after a rewind to after its start", async () => {
  const { note, runs } = noting();
  const asking = script(call("note", { what: "x" }), say("It is noted."));
  const worker = new Agent({ name: "worker", model: asking, tools: { note } });
  const model = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("go") ? background("x") : say("ok"),
  );
  const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: true });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  await h.settled();
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "again" });
  await h.rewind({ toSeq: seq });
  assert.equal(h.getDisplayState().status, "waiting");
  const { pending } = await h.settled();
  assert.equal(pending.length, 1);
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await h.settled()).status, "idle");
  assert.equal(runs.length, 1);
  await h.close();
});
