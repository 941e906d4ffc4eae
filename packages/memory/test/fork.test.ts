import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { call, hang } from "@cinch/testkit";
import { observationalMemory } from "@cinch/memory";
import { answer, look, stepsOf, worker } from "./simulation.ts";

test("the first prompt of a fork begins with the messages of its parent's last one", async () => {
  let isForked = false;
  let observed = 0;
  const model = worker(61, {
    // Nothing is buffered any more when the fork begins, so that it has nothing to activate.
    observer: () => (++observed > 4 ? hang() : answer("- Seen.\nCurrent task: look on")),
    agent({ prompt }, steps) {
      if (JSON.stringify(prompt).includes("This is the fork")) return answer("The report.");
      if (steps !== 60 || isForked) return undefined;
      isForked = true;
      return call("task", { agent: "fork", prompt: "Report on it." });
    },
  });
  const fork = new Agent({ name: "fork", description: "Reports", forked: true });
  const agent = new Agent({ name: "worker", model, tools: { look }, subagents: [fork] });
  const memory = observationalMemory({ messageTokens: 4_000, observationTokens: 2_000 });
  const harness = new Harness({ id: "test", agent, memory });
  assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
  await harness.close();
  const steps = stepsOf(model).map(({ prompt }) => prompt);
  const at = steps.findIndex((prompt) => JSON.stringify(prompt).includes("This is the fork"));
  const before = steps[at - 1]!.filter((message) => !JSON.stringify(message).includes("<focus>"));
  assert.match(JSON.stringify(before), /<observations/);
  assert.deepEqual(JSON.stringify(steps[at]!.slice(0, before.length)), JSON.stringify(before));
});
