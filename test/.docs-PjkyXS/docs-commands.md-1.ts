import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";

const root = mkdtempSync(join(tmpdir(), "commands-"));
const workspace = localWorkspace({
  root,
  permissions: [{ operations: ["read", "write"], paths: ["/**/.env*"], mode: "deny" }],
});
const model = script(
  call("execute", { command: "read name; echo hello $name", background: true }), // answers cmd-10 at once
  call("execute_input", { id: "cmd-10", text: "world\n" }),
  call("execute_output", { id: "cmd-10", wait_ms: 5000 }),
  say("It greeted the world."),
);
const agent = new Agent({ name: "greeter", model });
const harness = new Harness({ id: "commands", agent, workspace, initialState: { yolo: true } });
harness.subscribe((event) => {
  if (event.type === "workspace_ready") console.log(event.description); // what stands between commands and the machine
});
await harness.init();
await harness.sendMessage({ content: "Greet the world" });
await harness.close(); // ends what still runs
rmSync(root, { recursive: true });
