import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Agent, defineTool, Harness, textOf, type PathRule, type Tool } from "@cinch/core";
import { call, say, script, type ScriptedModel } from "@cinch/testkit";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  localWorkspace,
  memoryBackend,
  sandboxShell,
  type FileWorkspace,
} from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";
import * as z from "zod";
import { bubblewrap, sandboxRuntime } from "../sandboxes/sandboxes.ts";
import { folder } from "../shells/shell-support.ts";
import { agentTree, obedient, type ToolCall } from "./agent-tree.ts";

const deny = (...paths: string[]): PathRule => ({ operations: ["read", "write"], paths, mode: "deny" });
const RULES = { permissions: [deny("/secret/**", "**/.env")] };
const YOLO = { initialState: { yolo: true } };
const COMMANDS = ["execute", "execute_output", "execute_input", "execute_stop"];

after(async () => {
  await bubblewrap.close();
  await sandboxRuntime.close();
});

/** A folder with files that the rules deny. */
function project() {
  const root = folder();
  mkdirSync(join(root.path, "secret"));
  mkdirSync(join(root.path, "src"));
  writeFileSync(join(root.path, "secret/key"), "KEY\n");
  writeFileSync(join(root.path, "src/.env"), "KEY=1\n");
  writeFileSync(join(root.path, "src/a.ts"), "export {};\n");
  symlinkSync("../secret/key", join(root.path, "src/link"));
  return root;
}

const execute = (command: string): ToolCall => ["execute", { command }];
const READ = execute("cat secret/key src/.env src/link src/../secret/key src/a.ts; echo end");
const ATTACKS = [
  READ,
  execute("mv secret moved; cat moved/key; mv src/.env src/x; cat src/x; cat src/a.ts; echo end"),
  execute(
    "cp -r secret copy; cat copy/key; ln secret/key hard; cat hard; rm -rf secret src/.env; cat src/a.ts; echo end",
  ),
  execute("echo x >> secret/key; echo x > secret/new; find . -type f -exec cat {} +; echo end"),
];

const toolsOf = ({ requests }: ScriptedModel): string[] => (requests[0]?.tools ?? []).map(({ name }) => name);

const commandsOf = (model: ScriptedModel): string[] => toolsOf(model).filter((name) => COMMANDS.includes(name));

describe("a command of an agent with path rules", () => {
  for (const sandbox of [bubblewrap, sandboxRuntime])
    test(`keeps them in ${sandbox.title}, and a command of its parent does not`, { skip: sandbox.why }, async () => {
      for (const attack of ATTACKS) {
        using root = project();
        const workspace = localWorkspace({ root: root.path, sandbox: sandbox.lend() });
        await using tree = await agentTree([{}, RULES, {}], { workspace, ...YOLO });
        const [answer] = await tree.calls(attack);
        assert.match(answer!.text, /end\n/);
        assert.match(answer!.text, /export/);
        assert.doesNotMatch(answer!.text, /KEY/);
        assert.equal(readFileSync(join(root.path, "secret/key"), "utf8"), "KEY\n");
        assert.equal(readFileSync(join(root.path, "src/.env"), "utf8"), "KEY=1\n");
      }
      using root = project();
      const workspace = localWorkspace({ root: root.path, sandbox: sandbox.lend() });
      await using tree = await agentTree([{}, {}], { workspace, ...YOLO });
      assert.match((await tree.calls(READ))[0]!.text, /KEY\nKEY=1\nKEY\nKEY\n/);
    });

  test("keeps them in an interpreter", async () => {
    const files = { "/secret/key": "KEY\n", "/src/.env": "KEY=1\n", "/src/a.ts": "export {};\n" };
    for (const attack of ATTACKS) {
      const backend = memoryBackend(files);
      const workspace = createWorkspace({ backend, shell: virtualShell({ backend }) });
      await using tree = await agentTree([{}, RULES, {}], { workspace, ...YOLO });
      const [answer] = await tree.calls(attack);
      // A denied write ends a whole command line.
      if (attack === READ) assert.match(answer!.text, /export.*end\n/s);
      assert.doesNotMatch(answer!.text, /KEY/);
      assert.equal(Buffer.from((await workspace.download(["/secret/key"]))["/secret/key"]!).toString(), "KEY\n");
    }
  });

  test("keeps the rules of every agent above it, and those of the workspace", { skip: bubblewrap.why }, async () => {
    using root = project();
    const workspace = localWorkspace({ root: root.path, sandbox: bubblewrap.lend(), permissions: [deny("**/.env")] });
    const levels = [{}, { permissions: [deny("/secret/**")] }, { permissions: [deny("/secret/key", "/src/a.ts")] }];
    await using tree = await agentTree(levels, { workspace, ...YOLO });
    const [answer] = await tree.calls(READ);
    assert.match(answer!.text, /end\n/);
    assert.doesNotMatch(answer!.text, /KEY|export/);
  });

  test("can be kept from all files, or from changing any", { skip: bubblewrap.why }, async () => {
    const change = execute("echo x > src/a.ts; echo x > new; rm -rf src; cat src/a.ts; ls; echo end");
    for (const operation of ["read", "write"] as const) {
      using root = project();
      const workspace = localWorkspace({ root: root.path, sandbox: bubblewrap.lend() });
      const permissions: PathRule[] = [{ operations: [operation], paths: ["/**"], mode: "deny" }];
      await using tree = await agentTree([{}, { permissions }], { workspace, ...YOLO });
      const [answer] = await tree.calls(change);
      assert.match(answer!.text, operation === "read" ? /\nend\n/ : /export.*secret\nsrc\nend\n/s);
      if (operation === "read") assert.doesNotMatch(answer!.text, /export|secret/);
      assert.equal(readFileSync(join(root.path, "src/a.ts"), "utf8"), "export {};\n");
      assert.equal(existsSync(join(root.path, "new")), false);
    }
  });

  test("in a folder of the workspace keeps the rules for that folder", { skip: bubblewrap.why }, async () => {
    using root = project();
    const backend = compositeBackend({
      default: memoryBackend(),
      routes: { "/repo/": directoryBackend({ root: root.path }) },
    });
    const shell = sandboxShell({ root: root.path, sandbox: bubblewrap.lend() });
    const workspace = createWorkspace({ backend, shell });
    const levels = [{}, { permissions: [deny("/repo/secret/**", "/repo/src/.env")] }];
    await using tree = await agentTree(levels, { workspace, ...YOLO });
    const [answer] = await tree.calls(READ);
    assert.match(answer!.text, /export/);
    assert.doesNotMatch(answer!.text, /KEY/);
  });
});

describe("an agent whose path rules commands can't keep", () => {
  const unable: [string, (root: string) => FileWorkspace][] = [
    ["without a sandbox", (root) => localWorkspace({ root, sandbox: "none" })],
    [
      "if the folder of the shell is not in the workspace",
      (root) => createWorkspace({ backend: memoryBackend(), shell: sandboxShell({ root }) }),
    ],
  ];
  for (const [title, workspaceOf] of unable)
    test(`${title} has no tools for commands, and a call is refused with the reason`, async () => {
      using root = project();
      const [top, middle, leaf] = [obedient(), obedient(), obedient()];
      const levels = [{ model: top }, { model: middle, ...RULES }, { model: leaf }];
      await using tree = await agentTree(levels, { workspace: workspaceOf(root.path), ...YOLO });
      const calls = COMMANDS.map((name): ToolCall => [name, name === "execute" ? READ[1] : { id: "cmd-1", text: "x" }]);
      for (const { text, isError } of await tree.calls(...calls)) {
        assert.ok(isError);
        assert.match(text, /^Denied: this agent has path rules, and commands can't keep them here\./);
      }
      assert.deepEqual([commandsOf(top), commandsOf(middle), commandsOf(leaf)], [COMMANDS, [], []]);
    });

  test("does not get them by another tool or under another name", async () => {
    using root = project();
    const workspace = localWorkspace({ root: root.path, sandbox: "none" });
    const run = workspace.tools["execute"] as Tool;
    const around = defineTool({
      description: "Runs",
      input: z.object({ command: z.string() }),
      execute: (args, context) => run.execute(args, context),
    });
    const model = obedient();
    const levels = [{}, { model, tools: { run, around }, ...RULES }];
    await using tree = await agentTree(levels, { workspace, ...YOLO });
    const [direct, indirect] = await tree.calls(["run", READ[1]], ["around", READ[1]]);
    assert.match(direct!.text, /^Denied: this agent has path rules/);
    assert.match(indirect!.text, /^Not run: this agent has path rules/);
    assert.deepEqual(
      toolsOf(model).filter((name) => ["run", "around"].includes(name)),
      ["around"],
    );
  });

  test("as a fork keeps the list of its parent, and a call is refused with the reason", async () => {
    using root = project();
    const top = obedient();
    const workspace = localWorkspace({ root: root.path, sandbox: "none" });
    await using tree = await agentTree([{ model: top }, { forked: true, ...RULES }], { workspace, ...YOLO });
    const [answer] = await tree.calls(READ);
    assert.match(answer!.text, /^Denied: this agent has path rules/);
    const lists = new Set(top.requests.map(({ tools }) => JSON.stringify(tools)));
    assert.equal(lists.size, 1);
    assert.ok(toolsOf(top).includes("execute"));
  });
});

test(
  "an agent neither sees nor answers a command that was started without its path rules",
  { skip: bubblewrap.why },
  async () => {
    using root = project();
    const workspace = localWorkspace({ root: root.path, sandbox: bubblewrap.lend() });
    const build = new Agent({
      name: "build",
      model: script(call("execute", { command: "cat; cat secret/key", background: true }, "start"), say("ok")),
    });
    const planned = (id: string) =>
      script(
        say("unused"),
        say("unused"),
        call(["execute_input", { id, text: "x" }, "in"], ["execute_output", { id }, "out"]),
        call("execute_stop", { id }, "stop"),
        say("ok"),
      );
    let id = "";
    const results: Record<string, string> = {};
    const plan = new Agent({
      name: "plan",
      model: {
        ...planned(""),
        doStream: (options: Parameters<ScriptedModel["doStream"]>[0]) => planned(id).doStream(options),
      },
      ...RULES,
    });
    const modes = [
      { id: "build", agent: build },
      { id: "plan", agent: plan },
    ];
    const h = new Harness({ id: "t", modes, workspace, ...YOLO });
    await h.init();
    h.subscribe((event) => {
      if (event.type !== "tool_end") return;
      const { id: started } = (event.result.details ?? {}) as { id?: string };
      id = started ?? id;
      results[event.toolCallId] = textOf(event.result.content);
    });
    await h.sendMessage({ content: "build" });
    await h.switchMode({ modeId: "plan" });
    await h.sendMessage({ content: "plan" });
    assert.match(results["in"]!, /was started without the path rules that this agent has/);
    assert.match(results["out"]!, /was started without the path rules that this agent has/);
    assert.match(results["stop"]!, /Ended by|Exit code/);
    await h.close();
  },
);
