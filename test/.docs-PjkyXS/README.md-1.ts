import { anthropic } from "@ai-sdk/anthropic";
import { Agent, defineTool, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

const add = defineTool({
  description: "Adds two numbers",
  category: "read", // changes nothing: runs without approval, and runs again after a crash
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `${a + b}`,
});

// Used without a key: calls the tool, then answers.
const scripted = scriptedBy(({ prompt }) =>
  prompt.at(-1)?.role === "tool" ? say("2 + 3 is 5.") : call("add", { a: 2, b: 3 }),
);
// Any language model of the AI SDK.
const model = process.env["ANTHROPIC_API_KEY"] ? anthropic("claude-sonnet-5") : scripted;

const harness = new Harness({
  id: "first",
  storage: sqliteStore({ path: ".cinch/cinch.db" }), // default: in memory
  agent: new Agent({ name: "helper", model, instructions: "Be brief.", tools: { add } }),
});
await harness.init();

harness.subscribe((event) => {
  if (event.type === "tool_start") console.log(`${event.toolName} ${JSON.stringify(event.args)}`);
  if (event.type === "message_update") process.stdout.write(event.delta);
});
await harness.selectOrCreateThread(); // resumes a turn that a crash interrupted
const { reason, error } = await harness.sendMessage({ content: "What is 2 + 3?" });
console.log(`\n(${error?.message ?? reason})`);
await harness.close();
