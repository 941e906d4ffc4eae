import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, say, scriptedBy, script } from "@cinch/testkit";
import { next, noting } from "../support.ts";
import { resultsOf } from "./requests.ts";

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

for (const how of ["clone", "rewind"] as const)
  test(`agent_await gives the report of a subagent whose end is the last event before a ${how}`, async () => {
    const worker = new Agent({ name: "worker", model: script(say("The report.")), tools: {} });
    const model = scriptedBy(({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("go")) return background("x");
      return last.includes("collect") ? call("agent_await", { ids: ["bg-1"], mode: "all" }) : say("ok");
    });
    const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: { wake: false } });
    const h = new Harness({ id: "t", agent, storage: memoryStore() });
    const ended = next(h, "subagent_end");
    await h.sendMessage({ content: "go" });
    const { seq } = await ended;
    await h.settled();
    if (how === "clone") await h.cloneThread({ atSeq: seq });
    else await h.rewind({ toSeq: seq });
    const waits = next(h, "tool_suspended").then(({ type }) => type);
    const turn = h.sendMessage({ content: "collect" }).then(({ reason }) => reason);
    assert.equal(await Promise.race([turn, waits]), "complete");
    assert.match(resultsOf(h.getDisplayState()).at(-1)!, /^bg-1 \(worker\): complete\n.*The report/s);
    await h.close();
  });
