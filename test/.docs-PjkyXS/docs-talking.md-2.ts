import assert from "node:assert/strict";
import { Agent, defineTool, Harness } from "@cinch/core";
import { call, fail, inTurn, say, script } from "@cinch/testkit";
import * as z from "zod";

const deploy = defineTool({ description: "Deploys", input: z.object({}), execute: () => "deployed" });
const refuses = fail(Object.assign(new Error("No credit left"), { statusCode: 402 }));
const model = script(inTurn(refuses, call("deploy")), say("It is up."));
const harness = new Harness({ id: "again", agent: new Agent({ name: "deployer", model, tools: { deploy } }) });

const { reason, error } = await harness.sendMessage({ content: "Ship it" });
assert.deepEqual([reason, error?.message], ["error", "No credit left"]);

const retried = harness.retry(); // continues, without a new message
const { status, pending } = await harness.settled(); // nothing more happens without a person
assert.deepEqual([status, pending[0]?.toolName], ["waiting", "deploy"]);
await harness.respondToToolApproval({ toolCallId: pending[0]!.toolCallId, decision: "approve" });
assert.equal((await retried).reason, "complete");
assert.deepEqual(await harness.settled(), { status: "idle", pending: [] });
await harness.close();
