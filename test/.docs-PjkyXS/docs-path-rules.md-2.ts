import assert from "node:assert/strict";
import { Agent, Harness, textOf } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { createWorkspace, memoryBackend } from "@cinch/workspace";

const backend = memoryBackend({ "/src/a.ts": "export {};\n", "/keys/deploy": "SECRET\n" });
const reviewer = new Agent({
  name: "reviewer",
  model: script(
    call(
      ["read_file", { file_path: "/keys/deploy" }, "read"],
      ["write_file", { file_path: "/src/b.ts", content: "" }, "write"],
      ["glob", { pattern: "**" }, "glob"],
    ),
    say("Reviewed."),
  ),
  permissions: [
    { operations: ["write"], paths: ["/**"], mode: "deny" },
    { operations: ["read"], paths: ["/keys/**"], mode: "deny" },
  ],
});
const lead = new Agent({
  name: "lead",
  model: script(call("task", { agent: "reviewer", prompt: "Review it" }), say("Done.")),
  subagents: [reviewer],
});
const workspace = createWorkspace({ backend });
const harness = new Harness({ id: "agents", agent: lead, workspace, initialState: { yolo: true } });
const results: Record<string, string> = {};
harness.subscribe((event) => {
  if (event.type === "subagent_tool_end") results[event.toolCallId] = textOf(event.result.content);
});
await harness.sendMessage({ content: "Go" });
assert.match(results["read"]!, /^Denied/);
assert.match(results["write"]!, /^Denied/);
assert.match(results["glob"]!, /^1 match.*\nsrc\/a\.ts$/);
await harness.close();
