import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { Agent, defineTool, Harness } from "@cinch/core";
import { observationalMemory } from "@cinch/memory";
import { call, say, scriptedBy } from "@cinch/testkit";

const read = defineTool({
  description: "Reads a page",
  category: "read",
  input: { type: "object", properties: { page: { type: "number" } } },
  async execute() {
    await setTimeout(2);
    return "A page of text. ".repeat(200);
  },
});
let page = 0;
const model = scriptedBy(({ prompt }) => {
  const [system] = prompt;
  const isObserver = system?.role === "system" && system.content.startsWith("You keep the memory");
  if (isObserver)
    return say("- 2026-11-16: the agent read some pages.\nCurrent task: read all pages\nNext: the next page");
  return page++ < 60 ? call("read", { page }) : say("I have read all pages.");
});

const harness = new Harness({
  id: "memory",
  agent: new Agent({ name: "reader", model, tools: { read } }),
  memory: observationalMemory({ messageTokens: 5_000 }),
});
await harness.sendMessage({ content: "Read all pages." });

const { leftOut, total } = await harness.explainContext();
assert.equal(leftOut[0]?.reason, "observed");
assert.ok(total < 20_000);
await harness.close();
