import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const folder = mkdtempSync(join(tmpdir(), "cinch-"));
const deployed: string[] = [];
const deploy = defineTool({
  description: "Deploys the current build",
  category: "execute",
  input: z.object({ target: z.enum(["staging", "production"]) }),
  execute: ({ target }) => `deployment ${deployed.push(target)}, to ${target}`,
});
const open = () => {
  const model = script(call("deploy", { target: "production" }), say("It is up."));
  const agent = new Agent({ name: "deployer", model, tools: { deploy } });
  return new Harness({ id: "approvals", agent, storage: sqliteStore({ path: join(folder, "cinch.db") }) });
};

const friday = open();
const asks = new Promise<void>((resolve) => {
  friday.subscribe((event) => event.type === "tool_approval_required" && resolve());
});
await friday.post({ content: "Ship it", delivery: "send" });
await asks;
await friday.close(); // what is pending stays pending

const monday = open(); // in another process, as far as the store can tell
const [pending] = await monday.pendingApprovals();
assert.deepEqual([pending?.title, pending?.args], ["Ship it", { target: "production" }]);
const { threadId, toolCallId, digest } = pending!;
await monday.switchThread({ threadId }); // only to watch: threadId in the answer is enough
const ends = new Promise<string>((resolve) => {
  monday.subscribe((event) => event.type === "agent_end" && resolve(event.reason));
});
const answer = { threadId, toolCallId, digest, by: "ada" };
await monday.respondToToolApproval({ ...answer, decision: "edit", args: { target: "staging" } });
assert.equal(await ends, "complete");
assert.deepEqual(deployed, ["staging"]);
await assert.rejects(monday.respondToToolApproval({ ...answer, decision: "approve" }), { code: "ALREADY_ANSWERED" });
await monday.close();
rmSync(folder, { recursive: true });
