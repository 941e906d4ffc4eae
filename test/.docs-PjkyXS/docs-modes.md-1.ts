import assert from "node:assert/strict";
import { Agent, defineTool, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const write = defineTool({
  description: "Writes a line",
  category: "edit",
  input: z.object({ line: z.string() }),
  execute: ({ line }) => `wrote "${line}"`,
});

// Both agents answer from this script: a plan, a tool call, and a last sentence.
const model = script(call("submit_plan", { plan: "1. Write hello." }), call("write", { line: "hello" }), say("Done."));
const harness = new Harness({
  id: "modes",
  modes: [
    {
      id: "plan",
      metadata: { default: true },
      agent: new Agent({ name: "planner", model, instructions: "Investigate, then propose." }),
      availableTools: ["ask_user", "submit_plan"],
      transitionsTo: "build",
    },
    { id: "build", agent: new Agent({ name: "builder", model, instructions: "Carry it out.", tools: { write } }) },
  ],
  permissions: [{ category: "edit", policy: "allow" }],
});
await harness.init();

const recorded: string[] = [];
harness.subscribe((event) => {
  if (event.type === "tool_suspended" && event.toolName === "submit_plan")
    harness.respondToToolSuspension({ resumeData: { action: "approved" } }).catch(console.error);
  if (event.type === "mode_changed") recorded.push(`${event.previousModeId} -> ${event.modeId}`);
  if (event.type === "prompt_head") recorded.push(event.reason);
});
const { reason } = await harness.sendMessage({ content: "Greet the world." });

assert.equal(reason, "complete"); // one turn, in two modes
assert.equal(harness.getCurrentModeId(), "build");
assert.deepEqual(recorded, ["first use", "plan -> build", 'agent changed from "planner" to "builder"']);
await harness.close();
