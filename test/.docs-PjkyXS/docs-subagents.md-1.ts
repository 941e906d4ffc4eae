import assert from "node:assert/strict";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";

const explore = new Agent({
  name: "explore",
  description: "Looks around in the code, and changes nothing",
  model: script(say("There are three tests.")),
  tools: {},
  maxSteps: 30,
});
const dev = new Agent({
  name: "dev",
  model: script(call("task", { agent: "explore", prompt: "Count the tests" }), say("Three.")),
  subagents: [explore],
});
const harness = new Harness({ id: "subagents", agent: dev });
const { message } = await harness.sendMessage({ content: "How many tests are there?" });
assert.equal(textOf(message!.content), "Three.");

const [child] = await harness.listThreads({ parentId: harness.getCurrentThreadId()! });
assert.equal(child?.title, "explore: Count the tests");
await harness.close();
