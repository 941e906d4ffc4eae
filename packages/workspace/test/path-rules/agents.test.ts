import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  Agent,
  defineTool,
  Harness,
  textOf,
  type PathRule,
  type Policy,
  type Rule,
  type Tool,
  type ToolSet,
} from "@cinch/core";
import { createWorkspace, memoryBackend } from "@cinch/workspace";
import * as z from "zod";
import { agentTree, encoded, obedient, type ToolCall } from "./agent-tree.ts";

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
    const [all, found, listed] = await tree.calls(
      ["grep", { pattern: "KEY" }],
      ["glob", { pattern: "**" }],
      ["ls", {}],
    );
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

describe("what they decide", () => {
  const write: ToolCall = ["write_file", { file_path: "/src/b.ts", content: "new\n" }];

  test("`ask` of a subagent asks, whatever the threads above allow, and its grant belongs to the subagent's thread", async () => {
    const permissions: Rule[] = [{ toolName: "write_file", match: "/src/**", policy: "allow" }];
    const levels = [{}, {}, { permissions: [rule("ask", "/src/**")] }];
    await using tree = await agentTree(levels, { workspace: workspace(), permissions });
    const turn = tree.send([[write], [["write_file", { file_path: "/src/c.ts", content: "more\n" }]]]);
    const { pending } = await tree.harness.settled();
    assert.deepEqual(
      pending.map(({ toolName, path }) => [toolName, path]),
      [["write_file", ["a", "b"]]],
    );
    await tree.harness.respondToToolApproval({ decision: "always_allow_tool" });
    await turn;
    assert.deepEqual(
      tree.answers(2).map(({ text }) => text),
      ["Created src/b.ts (1 line, 4 bytes).", "Created src/c.ts (1 line, 5 bytes)."],
    );
    assert.deepEqual(tree.harness.getSessionGrants(), []);
  });

  test("YOLO overrides `ask`, not `deny`", async () => {
    const levels = [{}, { permissions: [rule("ask", "/src/**"), rule("deny", "/secret/**")] }];
    await using tree = await agentTree(levels, { workspace: workspace(), initialState: { yolo: true } });
    const [written, denied] = await tree.calls(write, touching[1]!);
    assert.deepEqual([written!.isError, denied!.isError], [false, true]);
  });

  test("`allow` of a subagent allows nothing", async () => {
    const levels = [{}, { permissions: [rule("allow", "/**")] }];
    await using tree = await agentTree(levels, { workspace: workspace(), onAsk: "decline" });
    const [written] = await tree.calls(write);
    assert.match(written!.text, /^Declined: this call needs a person's approval/);
  });

  test("`allow` of the top-level agent allows, in its subagents too, where no other rule is stricter", async () => {
    const expected: [ws: PathRule[], subagent: PathRule[], isWritten: boolean][] = [
      [[], [], true],
      [[rule("allow", "/**")], [rule("allow", "/**")], true],
      [[rule("ask", "/src/**")], [], false],
      [[rule("deny", "/src/**")], [], false],
      [[], [rule("ask", "/src/**")], false],
      [[], [rule("deny", "/src/**")], false],
    ];
    for (const [own, below, isWritten] of expected)
      for (const depth of below.length > 0 ? [1] : [0, 1]) {
        const levels = [{ permissions: [rule("allow", "/src/**")] }, { permissions: below }].slice(0, depth + 1);
        await using tree = await agentTree(levels, { workspace: workspace(own), onAsk: "decline" });
        const [written] = await tree.calls(write);
        assert.equal(!written!.isError, isWritten, JSON.stringify({ own, below, depth, text: written!.text }));
      }
  });

  test("within a list the first match decides, and of all lists the strictest", async () => {
    const levels = [
      { permissions: [rule("allow", "/secret/key"), rule("deny", "/secret/**")] },
      { permissions: [rule("deny", "/src/**")] },
    ];
    await using tree = await agentTree(levels, { workspace: workspace(), permissions: EDITS });
    const [key, other, source] = await tree.calls(touching[0]!, touching[1]!, [
      "read_file",
      { file_path: "/src/a.ts" },
    ]);
    assert.match(key!.text, /KEY/);
    assert.deepEqual([other!.isError, source!.isError], [true, true]);
  });

  test("an approval for a folder by one list does not cover what another list asks for in it", async () => {
    const levels = [{}, { permissions: [rule("ask", "/all/private/**")] }];
    const backend = memoryBackend({ "/all/private/a": "KEY one\n", "/all/b": "KEY two\n" });
    const own = createWorkspace({ backend, permissions: [rule("ask", "/all/**")] });
    await using tree = await agentTree(levels, { workspace: own });
    for (const toolName of ["grep", "delete"]) await tree.harness.grantSessionTool({ toolName, match: "/**" });
    const [found, deleted] = await tree.calls(
      ["grep", { pattern: "KEY", path: "/all", output_mode: "content" }],
      ["delete", { file_path: "/all/" }],
    );
    assert.match(found!.text, /all\/b:1:KEY two/);
    assert.doesNotMatch(found!.text, /KEY one/);
    assert.match(deleted!.text, /holds 1 file that a rule protects/);
  });
});

describe("whichever way an agent got a tool of the workspace", () => {
  const levels = (tools: ToolSet) => [{}, { tools, permissions: [rule("deny", "/secret/**")] }];
  const calls: ToolCall[] = [
    ["look", { file_path: "/secret/key" }],
    ["look", { file_path: "/src/a.ts" }],
  ];

  test("the rules bind a tool under another name", async () => {
    const own = workspace();
    await using tree = await agentTree(levels({ look: own.tools["read_file"]! }), { workspace: own });
    const [denied, read] = await tree.calls(...calls);
    assert.match(denied!.text, /^Denied/);
    assert.match(read!.text, /export/);
  });

  test("the rules bind a tool that another tool calls", async () => {
    const look = defineTool({
      description: "Reads a file",
      category: "read",
      input: z.object({ file_path: z.string() }),
      execute: (args, context) => (context.workspace!.tools["read_file"] as Tool).execute(args, context),
    });
    await using tree = await agentTree(levels({ look }), { workspace: workspace() });
    const [denied, read] = await tree.calls(...calls);
    assert.ok(denied!.isError && !denied!.text.includes("KEY"), denied!.text);
    assert.match(read!.text, /export/);
  });

  test("upload and download are the program's, and not bound", async () => {
    const own = workspace();
    await using tree = await agentTree([{ permissions: [rule("deny", "/**")] }], { workspace: own });
    await tree.harness.createThread();
    await own.upload({ "/secret/new": "x" });
    assert.deepEqual(Object.keys(await own.download(["/secret/new"])), ["/secret/new"]);
  });
});

describe("a configuration", () => {
  const agent = () => new Agent({ name: "dev", model: obedient(), permissions: [rule("deny", "/secret/**")] });
  const other = (subagents: Agent[] = []) => new Agent({ name: "other", model: obedient(), subagents });

  test("with path rules and no workspace is invalid, and the error says what to do", () => {
    for (const config of [{ agent: agent() }, { agent: other([agent()]) }, { agent: other(), subagents: [agent()] }])
      assert.throws(() => new Harness({ id: "t", ...config }), {
        code: "INVALID_CONFIG",
        message: /^Agent "dev" has path rules in its permissions, and the harness has no workspace\. Give it one/,
      });
  });

  test("with path rules and a workspace that can't keep them is invalid", () => {
    const status = { protection: "none", description: "" };
    const own = { tools: {}, open: async () => status, close: async () => {} };
    assert.throws(() => new Harness({ id: "t", agent: agent(), workspace: own }), {
      code: "INVALID_CONFIG",
      message: /^Agent "dev" has path rules in its permissions, and its workspace can't keep them/,
    });
  });

  test("with a path that the workspace does not understand is invalid", () => {
    const relative = new Agent({ name: "dev", model: obedient(), permissions: [rule("deny", "secret/**")] });
    assert.throws(() => new Harness({ id: "t", agent: relative, workspace: workspace() }), {
      code: "INVALID_CONFIG",
      message: /^Agent "dev" has path rules in its permissions\. .*must begin with "\/"/s,
    });
  });

  test("with an unknown key in a rule of either kind is invalid", () => {
    const wrong: [unknown, RegExp][] = [
      [{ ...rule("deny", "/a"), match: "/a" }, /^Agent "dev", permissions\[1\]: .*Unknown key "match"/s],
      [{ operations: ["read"], path: ["/a"], mode: "deny" }, /Unknown key "path": did you mean "paths"/i],
      [{ operations: ["list"], paths: ["/a"], mode: "deny" }, /operations/],
      [{ toolName: "ls", policy: "deny", extra: 1 }, /Unknown key "extra"/],
      ["deny", /must be an object/],
    ];
    for (const [given, message] of wrong)
      assert.throws(() => new Agent({ name: "dev", permissions: [{ toolName: "ls", policy: "ask" }, given as Rule] }), {
        code: "INVALID_CONFIG",
        message,
      });
  });

  test("that a catalog gives while the harness runs is checked when `task` names the agent", async () => {
    const subagents = { list: async () => [{ name: "dev", description: "" }], resolve: async () => agent() };
    const lead = new Agent({ name: "lead", model: obedient(), subagents });
    const h = new Harness({ id: "t", agent: lead });
    await h.sendMessage({ content: encoded({ to: ["dev"], steps: [] }) });
    const outcomes = h.getDisplayState().messages.flatMap((message) => Object.values(message.outcomes));
    assert.match(textOf(outcomes[0]!.result.content), /^Agent "dev" has path rules/);
    assert.deepEqual(await h.listThreads({ parentId: h.getCurrentThreadId()! }), []);
    await h.close();
  });
});
