import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";

process.env["SOME_API_KEY"] = "very secret";
const root = mkdtempSync(join(tmpdir(), "sandbox-"));
const workspace = localWorkspace({ root }); // sandbox: "auto"
const model = script(call("execute", { command: "env; echo x > made" }), say("No keys."));
const agent = new Agent({ name: "curious", model });
const harness = new Harness({
  id: "sandbox",
  agent,
  workspace,
  permissions: [{ category: "execute", policy: "allow" }],
});

let protection = "";
let asked = false;
let printed = "";
harness.subscribe((event) => {
  if (event.type === "workspace_ready") ({ protection } = event); // "os", "virtual" or "none"; `description` says more
  if (event.type === "tool_end") printed = textOf(event.result.content);
  if (event.type !== "tool_approval_required") return;
  asked = true;
  harness.respondToToolApproval({ toolCallId: event.toolCallId, decision: "approve" }).catch(console.error);
});
await harness.init();
await harness.sendMessage({ content: "Look around" });
assert.equal(asked, protection === "none"); // without protection, the command asks
assert.match(printed, /PATH=/);
assert.doesNotMatch(printed, /very secret/);
await harness.close();
rmSync(root, { recursive: true });
