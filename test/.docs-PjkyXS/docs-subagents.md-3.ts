import assert from "node:assert/strict";
import { Agent, defineTool, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const deploy = defineTool({
  description: "Deploys",
  category: "execute",
  input: z.object({}),
  execute: () => "deployed",
});
const worker = new Agent({ name: "worker", model: script(call("deploy"), say("It is deployed.")), tools: { deploy } });
const lead = new Agent({
  name: "lead",
  model: script(call("task", { agent: "worker", prompt: "Deploy it" }), say("Done.")),
  subagents: [worker],
});
const harness = new Harness({ id: "asking", agent: lead });
const turn = harness.sendMessage({ content: "Deploy it" });
const { status, pending } = await harness.settled();
assert.deepEqual([status, pending[0]?.path], ["waiting", ["worker"]]);
await harness.respondToToolApproval({ decision: "approve" });
assert.equal((await turn).reason, "complete");
await harness.close();
