/** Plan mode: one agent plans and can't change anything, a person approves the plan, another agent carries it out. */
import { Agent, defineTool, Harness, isSuspendedBy, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const settings = new Map([["theme", "light"]]);
const readSetting = defineTool({
  description: "Reads a setting",
  category: "read",
  input: z.object({ name: z.string() }),
  execute: ({ name }) => settings.get(name) ?? "(not set)",
});
const writeSetting = defineTool({
  description: "Changes a setting",
  category: "edit",
  input: z.object({ name: z.string(), value: z.string() }),
  execute({ name, value }) {
    settings.set(name, value);
    return `${name} is ${value} now.`;
  },
});

// Both agents answer from this script, one after the other.
const model = script(
  call("read_setting", { name: "theme" }),
  call("write_setting", { name: "theme", value: "dark" }), // denied: not available in plan mode
  call("submit_plan", { title: "Theme", plan: "1. Set the theme to black." }),
  call("submit_plan", { title: "Theme", plan: "1. Set the theme to dark." }),
  call("write_setting", { name: "theme", value: "dark" }),
  say("The theme is dark."),
);
const harness = new Harness({
  id: "plan-mode",
  tools: { read_setting: readSetting, write_setting: writeSetting },
  modes: [
    {
      id: "plan",
      metadata: { default: true },
      agent: new Agent({ name: "planner", model, instructions: "Investigate, then propose." }),
      availableTools: ["read_setting", "ask_user", "submit_plan"], // no other tool runs, not even under YOLO
      transitionsTo: "build", // the mode after an approved plan
    },
    { id: "build", agent: new Agent({ name: "builder", model, instructions: "Carry out the plan." }) },
  ],
  permissions: [{ category: "edit", policy: "allow" }],
});
await harness.init();

harness.subscribe((event) => {
  switch (event.type) {
    case "mode_changed":
      console.log(`mode: ${event.previousModeId} → ${event.modeId}`);
      break;
    case "tool_end":
      console.log(`${event.isError ? "✗" : "✓"} ${event.toolName}: ${textOf(event.result.content).split("\n")[0]}`);
      break;
    case "tool_suspended": {
      if (!isSuspendedBy(event, "submit_plan")) break;
      const { plan } = event.suspendPayload; // typed as the payload of submit_plan
      const isGood = plan.includes("dark");
      console.log(`plan: ${plan}\nyou: ${isGood ? "approved" : "not black, dark"}`);
      const resumeData = isGood ? { action: "approved" } : { action: "rejected", feedback: "Not black, dark." };
      harness.respondToToolSuspension({ toolCallId: event.toolCallId, resumeData }).catch(console.error);
    }
  }
});
const { reason, message } = await harness.sendMessage({ content: "My eyes hurt at night." });
console.log(`${textOf(message?.content ?? [])} (${reason}, in mode ${harness.getCurrentModeId()})`);
await harness.close();
