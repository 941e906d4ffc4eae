import assert from "node:assert/strict";
import { Agent, Harness } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

const model = scriptedBy(({ prompt }) => {
  const turns = prompt.filter(({ role }) => role === "user").length;
  return turns === 1 ? say("Ready.") : call("write_todos", { todos: [] }); // from the second turn on, without end
});
const harness = new Harness({
  id: "state",
  agent: new Agent({ name: "counter", model }),
  stateSchema: z.object({ project: z.string(), budget: z.number().min(0).default(10) }),
  initialState: { project: "none" },
  prices: { script: { input: 2, output: 10 } }, // dollars for a million tokens
  budget: { steps: 3, thread: { cost: 1 } },
});
await harness.init();

assert.deepEqual(harness.getState(), { project: "none", budget: 10, yolo: false });
await harness.setState({ project: "bridge" }); // changes the given keys only
assert.deepEqual(harness.getState(), { project: "bridge", budget: 10, yolo: false });
await assert.rejects(harness.setState({ budget: -1 }), { code: "INVALID_INPUT" });

await harness.sendMessage({ content: "Ready?" });
const { inputTokens, outputTokens } = harness.getTokenUsage();
const cost = (inputTokens * 2 + outputTokens * 10) / 1_000_000;
assert.equal(harness.getDisplayState().cost, cost);

harness.subscribe((event) => event.type === "agent_end" && console.log(event.reason, event.detail));
const { reason } = await harness.sendMessage({ content: "Never stop." }); // prints: budget 3 of 3 steps for a turn
assert.equal(reason, "budget");
await harness.close();
