import assert from "node:assert/strict";
import { Agent, defineTool, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const lines: string[] = [];
const write = defineTool({
  description: "Writes a line",
  category: "edit",
  input: z.object({ line: z.string() }),
  execute: ({ line }) => `line ${lines.push(line)}`,
});
const model = script(call("write", { line: "early" }), say("Not yet."), call("write", { line: "late" }), say("Done."));
const agent = new Agent({ name: "coder", model, instructions: "You write code.", tools: { write } });
const harness = new Harness({
  id: "shared",
  modes: [
    { id: "look", agent, instructions: "Only look around.", availableTools: ["ask_user"] },
    { id: "act", agent, instructions: "Now act." },
  ],
  permissions: [{ category: "edit", policy: "allow" }],
});
await harness.init();

await harness.sendMessage({ content: "Write it down." });
await harness.switchMode({ modeId: "act" });
await harness.sendMessage({ content: "Now, please." });

assert.deepEqual(lines, ["late"]); // in "look", the call was refused
const notes = harness.getDisplayState().messages.filter(({ role }) => role === "note");
for (const { content } of notes) console.log(textOf(content));
const heads = model.requests.map(({ prompt, tools }) => JSON.stringify([prompt[0], tools]));
assert.equal(new Set(heads).size, 1); // four requests, one head
await harness.close();
