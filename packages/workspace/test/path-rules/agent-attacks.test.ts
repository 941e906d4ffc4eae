import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Agent, Harness, textOf, type HarnessEvent, type PathRule, type Policy } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, scriptedBy } from "@cinch/testkit";
import { createWorkspace, localWorkspace, memoryBackend } from "@cinch/workspace";
import { folder } from "../shells/shell-support.ts";
import { agentTree, type ToolCall } from "./agent-tree.ts";

const rule = (mode: Policy, operations: PathRule["operations"], ...paths: string[]): PathRule => ({
  operations,
  paths,
  mode,
});
const both: PathRule["operations"] = ["read", "write"];

/** "/open/link" and "/alias" are links to what the rules deny; "/tree/deep" is a denied folder in a folder that is not. */
function project() {
  const root = folder();
  for (const path of ["secret", "open", "tree/deep"]) mkdirSync(join(root.path, path), { recursive: true });
  writeFileSync(join(root.path, "secret/key"), "KEY\n");
  writeFileSync(join(root.path, "tree/deep/key"), "KEY\n");
  writeFileSync(join(root.path, "tree/a"), "plain\n");
  writeFileSync(join(root.path, "open/a"), "plain\n");
  symlinkSync("../secret/key", join(root.path, "open/link"));
  symlinkSync("secret", join(root.path, "alias"));
  return root;
}

const files = (root: string) => ["secret/key", "tree/deep/key"].map((path) => readFileSync(join(root, path), "utf8"));

describe("a denied path of a subagent is not reached", () => {
  const spelled = (root: string): string[] => [
    "/secret/key",
    "secret/key",
    "/open/../secret/key",
    "//secret//key",
    "/./secret/./key",
    "/SECRET/key",
    "/open/link",
    "/alias/key",
    "/tree/deep/key",
    join(root, "secret/key"),
    join(root, "open/link"),
    `${root}/open/../secret/key`,
    "../secret/key",
  ];
  const levels = [{}, { permissions: [rule("deny", both, "/secret/**", "/tree/deep/**")] }, {}];

  test("by another spelling, a link, or its real path", async () => {
    using root = project();
    const workspace = localWorkspace({ root: root.path, sandbox: "none" });
    await using tree = await agentTree(levels, { workspace, initialState: { yolo: true } });
    for (const file_path of spelled(root.path)) {
      const answers = await tree.calls(
        ["read_file", { file_path }],
        ["edit_file", { file_path, old_string: "KEY", new_string: "x" }],
        ["write_file", { file_path, content: "x\n" }],
        ["grep", { pattern: "KEY", path: file_path, output_mode: "content" }],
      );
      for (const { text, isError } of answers) {
        assert.doesNotMatch(text, /KEY\b(?!\.)/, file_path);
        assert.ok(isError || text.startsWith("Nothing matches"), `${file_path}: ${text}`);
      }
      assert.deepEqual(files(root.path), ["KEY\n", "KEY\n"], file_path);
    }
  });

  test("by a pattern, or by a search of a folder above it", async () => {
    using root = project();
    const workspace = localWorkspace({ root: root.path, sandbox: "none" });
    await using tree = await agentTree(levels, { workspace, initialState: { yolo: true } });
    const answers = await tree.calls(
      ["glob", { pattern: "**" }],
      ["glob", { pattern: "/secret/*" }],
      ["glob", { pattern: "{secret,alias}/**" }],
      ["glob", { pattern: "**/k?y" }],
      ["glob", { pattern: "deep/**", path: "/tree" }],
      ["grep", { pattern: "KEY", output_mode: "content" }],
      ["grep", { pattern: "K.Y", regex: true, path: "/tree", output_mode: "content", context: 3 }],
      ["grep", { pattern: "key", ignore_case: true, glob: "**/deep/*", output_mode: "count" }],
      ["ls", { path: "/tree" }],
      ["ls", { path: "/open" }],
      ["ls", {}],
    );
    // This repeats the pattern.
    const found = answers.map(({ text }) => (text.startsWith("Nothing matches") ? "" : text));
    for (const text of found) assert.doesNotMatch(text, /KEY|deep|key|link|alias|secret/);
    assert.match(answers[0]!.text, /open\/a/);
  });

  test("by deleting a folder above it, or a link on the way", async () => {
    using root = project();
    const workspace = localWorkspace({ root: root.path, sandbox: "none" });
    await using tree = await agentTree(levels, { workspace, initialState: { yolo: true } });
    const paths = ["/tree", "/tree/", "/tree/deep", "/alias/key", "/secret", "/secret/", "/open/../secret"];
    for (const { text, isError } of await tree.calls(...paths.map((file_path): ToolCall => ["delete", { file_path }])))
      assert.ok(isError, text);
    assert.deepEqual(files(root.path), ["KEY\n", "KEY\n"]);
    assert.ok(existsSync(join(root.path, "tree/a")));
  });

  test("by a file that does not exist yet", async () => {
    using root = project();
    const workspace = localWorkspace({ root: root.path, sandbox: "none" });
    await using tree = await agentTree(levels, { workspace, initialState: { yolo: true } });
    for (const file_path of ["/secret/later", "/alias/later", "/tree/deep/later/x"])
      assert.ok((await tree.calls(["write_file", { file_path, content: "x\n" }]))[0]!.isError);
    assert.ok(!existsSync(join(root.path, "secret/later")));
  });
});

describe("rules that are stricter in the next process", () => {
  const edit: ToolCall[] = [
    ["read_file", { file_path: "/src/a" }],
    ["edit_file", { file_path: "/src/a", old_string: "old", new_string: "new" }],
  ];

  for (const forked of [false, true])
    test(`refuse an edit that a person approves afterwards, ${forked ? "also in a fork" : "in a subagent"}`, async () => {
      const backend = memoryBackend({ "/src/a": "old\n" });
      const data = new MemoryData();
      const make = (storage: MemoryStore, permissions: PathRule[]) =>
        agentTree([{}, { forked, permissions }], { storage, workspace: createWorkspace({ backend }) });
      const first = new MemoryStore(data);
      const before = await make(first, []);
      before.send(edit.map((one) => [one])).catch(() => undefined);
      const { pending } = await before.harness.settled();
      assert.equal(pending[0]?.toolName, "edit_file");
      first.die();

      await using now = await make(new MemoryStore(data), [rule("deny", ["write"], "/src/**")]);
      await now.harness.switchThread({ threadId: before.harness.getCurrentThreadId()! });
      await now.harness.respondToToolApproval({ decision: "approve" });
      assert.equal((await now.harness.settled()).status, "idle");
      assert.match(now.answers(2)[1]!.text, /^Denied/);
      const held = await createWorkspace({ backend }).download(["/src/a"]);
      assert.equal(Buffer.from(held["/src/a"]!).toString(), "old\n");
    });
});

test("a fork that enters a mode of another agent is bound by that agent too, and can't delegate past it", async () => {
  const model = scriptedBy(({ prompt }) => {
    const last = prompt.at(-1)!;
    const text = JSON.stringify(last);
    if (last.role === "user" && text.includes("As a fork")) return call("submit_plan", { plan: "Read it" }, "plan");
    if (text.includes("The plan was approved"))
      return call(
        ["read_file", { file_path: "/secret/key" }, "read"],
        ["write_todos", { todos: [] }, "listed"],
        ["task", { agent: "general-purpose", prompt: "Read it" }, "delegated"],
      );
    return last.role === "tool" ? say("Done.") : call("task", { agent: "fork", prompt: "As a fork" }, "first");
  });
  const shared = { model, subagents: [new Agent({ name: "fork", forked: true })], maxSubagentDepth: 2 };
  const build = new Agent({
    name: "build",
    ...shared,
    permissions: [rule("deny", both, "/secret/**"), { toolName: "write_todos", policy: "deny" }],
  });
  const h = new Harness({
    id: "t",
    workspace: createWorkspace({ backend: memoryBackend({ "/secret/key": "KEY\n" }) }),
    modes: [
      { id: "plan", agent: new Agent({ name: "plan", ...shared }), transitionsTo: "build" },
      { id: "build", agent: build },
    ],
    initialState: { yolo: true },
  });
  await h.init();
  const results: Record<string, string> = {};
  h.subscribe((event: HarnessEvent) => {
    if (event.type === "subagent_tool_end") results[event.toolCallId] = textOf(event.result.content);
  });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  await h.respondToToolSuspension({ resumeData: { action: "approved" } });
  await turn;
  for (const id of ["read", "listed"]) assert.match(results[id] ?? "", /^Denied/, JSON.stringify(results));
  assert.match(results["delegated"] ?? "", /^Not started: a fork can't delegate in a mode that it has entered/);
  await h.close();
});
