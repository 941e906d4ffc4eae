import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { HarnessEvent } from "@cinch/core";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  type FileWorkspace,
  localShell,
  localWorkspace,
  memoryBackend,
  type PathRule,
  sandboxShell,
} from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";
import { rulesBelow } from "../../src/shells/shell-rules.ts";
import { commandDesk, CommandDesk } from "../tools/execute/command-desk.ts";
import { bubblewrap, sandboxRuntime } from "../sandboxes/sandboxes.ts";
import { folder } from "./shell-support.ts";

const both: PathRule["operations"] = ["read", "write"];
const deny = (...paths: string[]): PathRule => ({ operations: both, paths, mode: "deny" });

function tree(files: Record<string, string>) {
  const place = folder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.path, path)), { recursive: true });
    writeFileSync(join(place.path, path), text);
  }
  return place;
}

/** The description that people see when it is opened. */
async function protectionOf(workspace: FileWorkspace): Promise<string> {
  const desk = new CommandDesk(workspace);
  const events: HarnessEvent[] = [];
  desk.harness.subscribe((event) => events.push(event));
  await desk.harness.init();
  await desk.harness.close();
  const ready = events.find((event) => event.type === "workspace_ready");
  return ready?.type === "workspace_ready" ? ready.description : "";
}

for (const { title, why, lend } of [bubblewrap, sandboxRuntime]) {
  describe(`path rules of a workspace whose commands run in ${title}`, { skip: why }, () => {
    const files = { ".env": "KEY=1\n", "app/.env": "KEY=2\n", "app/main.ts": "code\n" };
    const command = "cat .env app/.env app/main.ts 2>/dev/null; echo x >> app/.env; rm -f .env; cat app/main.ts";

    test("apply to commands of a local workspace", async () => {
      using root = tree(files);
      using outputs = folder();
      const permissions = [deny("/**/.env")];
      const options = { root: root.path, permissions, sandbox: lend(), cache: outputs.path };
      await using desk = await commandDesk(localWorkspace(options));
      const { text } = await desk.ok("execute", { command });
      assert.doesNotMatch(text, /KEY/);
      assert.match(text, /code\n.*code\n$/s);
      assert.match((await desk.ok("execute", { command: "ls -A", background: false })).text, /\.env/);
      assert.match(await protectionOf(localWorkspace(options)), /path rules hold for files that are there/);
    });

    test("are configured once, on the workspace", async () => {
      using root = tree(files);
      const permissions = [deny("/**/.env")];
      const backend = directoryBackend({ root: root.path });
      await using desk = await commandDesk(
        createWorkspace({ backend, permissions, shell: sandboxShell({ root: root.path, sandbox: lend() }) }),
      );
      assert.doesNotMatch((await desk.ok("execute", { command })).text, /KEY/);
      const twice = sandboxShell({ root: root.path, sandbox: lend(), permissions });
      const workspace = createWorkspace({ backend, permissions, shell: twice });
      await assert.rejects(commandDesk(workspace), { code: "INVALID_CONFIG" });
    });

    test("apply if the shell's folder is only a part of the workspace, and so does cwd", async () => {
      using root = tree(files);
      const backend = compositeBackend({
        default: memoryBackend(),
        routes: { "/repo/": directoryBackend({ root: root.path }) },
      });
      // The second rule is for another folder.
      const permissions = [deny("/repo/**/.env"), deny("/app/**")];
      const shell = sandboxShell({ root: root.path, sandbox: lend() });
      await using desk = await commandDesk(createWorkspace({ backend, permissions, shell }));
      const { text } = await desk.ok("execute", { command });
      assert.doesNotMatch(text, /KEY/);
      assert.match(text, /code/);
      assert.match((await desk.ok("execute", { command: "cat main.ts", cwd: "/repo/app" })).text, /code/);
    });
  });
}

describe("path rules for commands", () => {
  const permissions = [deny("/**/.env")];
  const uncovered = /Path rules do not cover commands\.$/;

  test("have no effect without a sandbox, and the description says so", async () => {
    using root = tree({});
    const options = { root: root.path, sandbox: "none" as const };
    assert.match(await protectionOf(localWorkspace({ ...options, permissions })), uncovered);
    assert.doesNotMatch(await protectionOf(localWorkspace(options)), uncovered);
  });

  test(
    "have no effect if the shell's folder is not in the workspace, or is in it twice",
    { skip: bubblewrap.why },
    async () => {
      using root = tree({});
      using other = tree({});
      const shell = () => sandboxShell({ root: root.path, sandbox: bubblewrap.lend() });
      const elsewhere = createWorkspace({
        backend: directoryBackend({ root: other.path }),
        permissions,
        shell: shell(),
      });
      assert.match(await protectionOf(elsewhere), uncovered);
      const disk = directoryBackend({ root: root.path });
      const backend = compositeBackend({ default: memoryBackend(), routes: { "/a/": disk, "/b/": disk } });
      assert.match(await protectionOf(createWorkspace({ backend, permissions, shell: shell() })), uncovered);
    },
  );

  test("apply to an interpreter as to the tools; what needs an approval is denied", async () => {
    const backend = memoryBackend();
    const rules: PathRule[] = [...permissions, { operations: ["read"], paths: ["/asked/**"], mode: "ask" }];
    const workspace = createWorkspace({ backend, shell: virtualShell({ backend }), permissions: rules });
    await using desk = await commandDesk(workspace);
    const reach = { threadId: "", resourceId: "" };
    for (const path of ["/.env", "/asked/file", "/open"]) await backend.write(path, once("text of it"), {}, reach);
    assert.match((await desk.ok("execute", { command: "echo x > .env" })).text, /permission denied/);
    const { text } = await desk.ok("execute", { command: "cat .env; cat asked/file; cat open; ls -A" });
    assert.equal(text.match(/text of it/g)?.length, 1);
    assert.doesNotMatch(text, /\n\.env\n/);
    assert.doesNotMatch(await protectionOf(workspace), uncovered);
  });

  test("have no effect on a local shell", async () => {
    using root = tree({});
    const backend = directoryBackend({ root: root.path });
    const workspace = createWorkspace({ backend, permissions, shell: localShell({ root: root.path }) });
    assert.match(await protectionOf(workspace), uncovered);
  });
});

describe("rules for a folder of the workspace", () => {
  const cases: [string, PathRule["mode"], string[]][] = [
    ["/repo/secrets/**", "deny", ["/secrets/**"]],
    ["/repo/**", "deny", ["/**"]],
    ["/**/.env*", "deny", ["/**/.env*"]],
    ["**/.env*", "deny", ["/**/.env*"]],
    ["/*/src/*.ts", "deny", ["/src/*.ts"]],
    ["/other/**", "deny", []],
    ["/repo", "deny", []],
    // The rule can't be limited to the folder: too much is denied, and nothing is allowed.
    ["/{repo/a,other}/x", "deny", ["/**"]],
    ["/{repo/a,other}/x", "allow", []],
    ["/{repo,x/y}/**", "allow", ["/**"]],
    ["/repo/**", "allow", ["/**"]],
  ];
  for (const [pattern, mode, expected] of cases) {
    test(`${mode} ${pattern} is there ${expected.join(" and ") || "nothing"}`, () => {
      const rules = rulesBelow([{ operations: both, paths: [pattern], mode }], "/repo");
      assert.deepEqual(
        rules.flatMap(({ paths }) => paths),
        expected,
      );
    });
  }
});

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
