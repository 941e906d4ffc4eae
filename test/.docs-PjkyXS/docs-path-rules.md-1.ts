import assert from "node:assert/strict";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { createWorkspace, memoryBackend } from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";

const backend = memoryBackend({ "/.env": "KEY=1\n", "/src/.env.example": "KEY=\n", "/deploy/run.sh": "echo up\n" });
const workspace = createWorkspace({
  backend,
  shell: virtualShell({ backend }),
  permissions: [
    { operations: ["read", "write"], paths: ["**/.env.example"], mode: "allow" },
    { operations: ["read", "write"], paths: ["**/.env*"], mode: "deny" },
    { operations: ["write"], paths: ["/deploy/**"], mode: "ask" },
    { operations: ["write"], paths: ["/src/**"], mode: "allow" },
  ],
});
const model = script(
  call(
    ["read_file", { file_path: "/.env" }, "denied"],
    ["write_file", { file_path: "/src/a.ts", content: "export {};\n" }, "allowed"],
    ["write_file", { file_path: "/deploy/new.sh", content: "echo new\n" }, "asked"],
    ["ls", {}, "listed"],
    ["execute", { command: "cat .env src/.env.example" }, "command"],
  ),
  say("Done."),
);
const agent = new Agent({ name: "coder", model });
const harness = new Harness({ id: "rules", agent, workspace, permissions: [{ category: "execute", policy: "allow" }] });
await harness.init();
const asked: string[] = [];
const results: Record<string, string> = {};
harness.subscribe((event) => {
  if (event.type === "tool_end") results[event.toolCallId] = textOf(event.result.content);
  if (event.type !== "tool_approval_required") return;
  asked.push(event.toolCallId);
  harness.respondToToolApproval({ toolCallId: event.toolCallId, decision: "approve" }).catch(console.error);
});
await harness.sendMessage({ content: "Go" });
assert.deepEqual(asked, ["asked"]);
assert.match(results["denied"]!, /^Denied/);
assert.match(results["allowed"]!, /^Created/);
assert.doesNotMatch(results["listed"]!, /\.env/);
assert.match(results["command"]!, /KEY=\n.*cat: \.env/s);
await harness.close();
