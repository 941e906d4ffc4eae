import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, Harness, type PathRule, type Policy, type Rule } from "@cinch/core";
import { createWorkspace, memoryBackend } from "@cinch/workspace";
import { agentTree, obedient, type ToolCall } from "./agent-tree.ts";

const rule = (mode: Policy, ...paths: string[]): PathRule => ({ operations: ["read", "write"], paths, mode });
const EDITS: Rule[] = [{ category: "edit", policy: "allow" }];

const files = () => ({ "/secret/key": "KEY\n", "/src/a.ts": "export {};\n" });
const workspace = (permissions: PathRule[] = []) => createWorkspace({ backend: memoryBackend(files()), permissions });

const touching: ToolCall[] = [
  ["read_file", { file_path: "/secret/key" }],
  ["write_file", { file_path: "/secret/new", content: "x" }],
  ["edit_file", { file_path: "/secret/key", old_string: "KEY", new_string: "x" }],
  ["delete", { file_path: "/secret/key" }],
  ["delete", { file_path: "/secret" }],
  ["ls", { path: "/secret" }],
  ["glob", { pattern: "**", path: "/secret" }],
  ["grep", { pattern: "KEY", path: "/secret" }],
];

describe("the path rules of an agent", () => {
  test("bind every file tool of a top-level agent, under YOLO too", async () => {
    const levels = [{ permissions: [rule("deny", "/secret/**")] }];
    await using tree = await agentTree(levels, { workspace: workspace(), initialState: { yolo: true } });
    for (const { text, isError } of await tree.calls(...touching)) assert.ok(isError && !text.includes("KEY"), text);
    const [all, found, listed] = await tree.calls(["grep", { pattern: "KEY" }], ["glob", { pattern: "**" }], ["ls", {}]);
    for (const { text } of [all!, found!, listed!]) assert.doesNotMatch(text, /secret/);
  });

  test("bind a subagent at any depth, from every agent above it", async () => {
    for (const at of [0, 1, 2, 3]) {
      const levels = [0, 1, 2, 3].map((level) => (level === at ? { permissions: [rule("deny", "/secret/**")] } : {}));
      await using tree = await agentTree(levels, { workspace: workspace(), permissions: EDITS });
      for (const { text, isError } of await tree.calls(...touching)) assert.ok(isError && !text.includes("KEY"), text);
      const [found, read] = await tree.calls(["glob", { pattern: "**" }], ["read_file", { file_path: "/src/a.ts" }]);
      assert.doesNotMatch(found!.text, /secret/);
      assert.match(read!.text, /export/);
    }
  });
});

test("path rules without a workspace are an invalid configuration, which says what to do", () => {
  const agent = new Agent({ name: "dev", model: obedient, permissions: [rule("deny", "/secret/**")] });
  const lead = new Agent({ name: "lead", model: obedient, subagents: [agent] });
  for (const config of [{ agent }, { agent: lead }, { agent: new Agent({ name: "l", model: obedient }), subagents: [agent] }])
    assert.throws(() => new Harness({ id: "t", ...config }), {
      code: "INVALID_CONFIG",
      message: /^Agent "dev" has path rules in its permissions, and the harness has no workspace\. Give it one/,
    });
});
