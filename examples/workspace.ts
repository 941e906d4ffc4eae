/** A workspace: a folder with file tools, path rules, and commands in the sandbox of this machine, if it has one. */
import { mkdirSync, readFileSync } from "node:fs";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";

mkdirSync("project");
const workspace = localWorkspace({
  root: "project",
  cache: "cache", // snapshots and outputs of commands; default: a temporary folder
  permissions: [
    { operations: ["read", "write"], paths: ["**/.env*"], mode: "deny" }, // for every tool, and for commands in a sandbox
    { operations: ["write"], paths: ["/src/**"], mode: "allow" }, // without approval
  ],
});
await workspace.upload({ "/src/greet.ts": "export const greeting = 'Hello';\n", "/README.md": "A project.\n" });

const model = script(
  call("grep", { pattern: "greeting", output_mode: "content" }),
  call("write_file", { file_path: "/src/greet.ts", content: "" }), // refused: the file was not read yet
  call("read_file", { file_path: "/src/greet.ts" }),
  call("edit_file", { file_path: "/src/greet.ts", old_string: "Hello", new_string: "Good morning" }),
  call("write_file", { file_path: "/.env", content: "KEY=1" }), // denied by the first rule
  call("execute", { command: "wc -l src/*.ts && echo built > out.txt" }),
  say("It greets politely now."),
);
const harness = new Harness({
  id: "workspace",
  agent: new Agent({ name: "editor", model }),
  workspace,
  permissions: [{ toolName: "execute", match: "wc *", policy: "allow" }],
});

harness.subscribe((event) => {
  switch (event.type) {
    case "workspace_ready":
      console.log(`protection: ${event.protection}`); // "os" or "none"; event.description says more
      break;
    case "tool_approval_required":
      // The rule allows `wc`, but not the rest of the line. Without a sandbox every command needs approval.
      console.log(`? ${event.toolName} ${JSON.stringify(event.args)}: approved`);
      harness.respondToToolApproval({ toolCallId: event.toolCallId, decision: "approve" }).catch(console.error);
      break;
    case "tool_end":
      console.log(`${event.isError ? "✗" : "✓"} ${event.toolName}: ${textOf(event.result.content).split("\n")[0]}`);
  }
});
await harness.init();
const { message } = await harness.sendMessage({ content: "Make the greeting polite." });
console.log(textOf(message?.content ?? []));
console.log(`src/greet.ts: ${readFileSync("project/src/greet.ts", "utf8").trim()}`);
console.log(`changed: ${Object.keys(harness.getDisplayState().modifiedFiles).join(", ")}`);
await harness.close();
