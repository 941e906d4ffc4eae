import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { Agent, Harness, type PathRule, type SourceReach, type WorkspaceReader } from "@cinch/core";
import { call, say, script, type Step } from "@cinch/testkit";
import { createWorkspace, directoryBackend, memoryBackend, threadBackend, type FileWorkspace } from "@cinch/workspace";
import { TemporaryFolder } from "./temporary-folder.ts";

const permissions = [
  { operations: ["read" as const], paths: ["/secret/**", "**/.env"], mode: "deny" as const },
  { operations: ["read" as const], paths: ["/private/**"], mode: "ask" as const },
];

/** Looks at the files of a workspace as a context source does, in the last turn of a thread. */
async function looking<T>(
  workspace: FileWorkspace,
  look: (files: WorkspaceReader) => Promise<T>,
  { steps = [], rules = [] }: { steps?: Step[]; rules?: PathRule[] } = {},
) {
  let seen: T | undefined;
  const source = {
    name: "looks",
    read: async ({ files }: SourceReach) => {
      seen = await look(files!);
      return null;
    },
  };
  const model = script(...steps, say("done"), say("done"));
  const harness = new Harness({
    id: "reading",
    agent: new Agent({ name: "reader", model, permissions: rules }),
    workspace,
    context: [source],
    permissions: [{ category: "edit", policy: "allow" }],
  });
  await harness.init();
  const asked: string[] = [];
  harness.subscribe((event) => event.type === "tool_approval_required" && asked.push(event.toolName));
  await harness.sendMessage({ content: "go" });
  await harness.sendMessage({ content: "again" });
  await harness.close();
  return { seen: seen!, asked };
}

const read = async (files: WorkspaceReader, path: string): Promise<string | null> =>
  (await files.read(path, { maxBytes: 1_000 }))?.text ?? null;

test("what the agent may not read, or not without asking, does not exist for a reader, and no approval is asked", async () => {
  await using root = await TemporaryFolder.make();
  await mkdir(root.at("secret"));
  await mkdir(root.at("private"));
  for (const path of ["a.md", "secret/b.md", "private/c.md", ".env"]) await writeFile(root.at(path), path);
  await symlink("secret/b.md", root.at("link.md"));
  const workspace = createWorkspace({ backend: directoryBackend({ root: root.path }), root: root.path, permissions });
  const { seen, asked } = await looking(workspace, async (files) => ({
    texts: await Promise.all(
      ["/a.md", "/secret/b.md", "/private/c.md", "/.env", "/link.md"].map((path) => read(files, path)),
    ),
    versions: await Promise.all(["/secret/b.md", "/private/c.md"].map((path) => files.version(path))),
    lists: await Promise.all(["/secret", "/private", "/missing", "/a.md"].map((path) => files.list(path))),
    root: (await files.list("/"))?.map(({ name }) => name),
  }));
  assert.deepEqual(seen, {
    texts: ["a.md", null, null, null, null],
    versions: [null, null],
    lists: [null, null, null, null],
    root: ["a.md"],
  });
  assert.deepEqual(asked, []);
});

test("a reader never leaves the root, by a path or by a link", async () => {
  await using outside = await TemporaryFolder.make();
  await using root = await TemporaryFolder.make();
  await writeFile(outside.at("x.md"), "outside");
  await symlink(outside.at("x.md"), root.at("x.md"));
  await symlink(outside.path, root.at("folder"));
  const workspace = createWorkspace({ backend: directoryBackend({ root: root.path }), root: root.path });
  const { seen } = await looking(workspace, async (files) => [
    await read(files, "/x.md"),
    await read(files, "/folder/x.md"),
    await read(files, `../${outside.path.split("/").at(-1)}/x.md`),
    await read(files, `${outside.path}/x.md`),
    await files.list("/folder"),
    await files.list("/.."),
  ]);
  assert.deepEqual(seen, [null, null, null, null, null, null]);
});

test("the versions of many files are those of each of them", async () => {
  await using outside = await TemporaryFolder.make();
  await using root = await TemporaryFolder.make();
  await writeFile(outside.at("x.md"), "outside");
  for (const folder of ["a", "b", "secret", "secret/deep", "private", "a/folder.md"]) await mkdir(root.at(folder));
  for (const path of [
    "top.md",
    "a/1.md",
    "a/2.md",
    "b/3.md",
    "secret/b.md",
    "secret/deep/b.md",
    "private/c.md",
    "b/.env",
  ])
    await writeFile(root.at(path), path);
  await symlink("../a/1.md", root.at("b/link.md"));
  await symlink("../secret/b.md", root.at("b/secret.md"));
  await symlink("a", root.at("c"));
  await symlink("secret", root.at("d"));
  await symlink(outside.path, root.at("e"));
  const workspace = createWorkspace({ backend: directoryBackend({ root: root.path }), root: root.path, permissions });
  const readable = ["/top.md", "/a/1.md", "/a/2.md", "/b/3.md", "/b/link.md", "/c/1.md", "/c/2.md"];
  const others = [
    "/a/folder.md",
    "/a/none.md",
    "/none/x.md",
    "/top.md/x.md",
    "/secret/b.md",
    "/private/c.md",
    "/b/.env",
  ];
  const led = ["/b/secret.md", "/d/b.md", "/d/deep/b.md", "/e/x.md", `${outside.path}/x.md`, "../x.md"];
  const paths = [...readable, ...others, ...led];
  const { seen } = await looking(workspace, async (files) => ({
    many: await files.versions!(paths),
    each: await Promise.all(paths.map((path) => files.version(path))),
  }));
  assert.deepEqual(seen.many, seen.each);
  assert.deepEqual(
    seen.many.map((version) => version !== null),
    paths.map((path) => readable.includes(path)),
  );
});

test("a reader reads .cinch, which an agent can't write, and reads no more than it is asked for", async () => {
  const workspace = createWorkspace({ backend: memoryBackend() });
  await workspace.upload({ "/.cinch/skills/a/SKILL.md": "x".repeat(5_000) });
  const { seen } = await looking(workspace, async (files) => {
    const path = "/.cinch/skills/a/SKILL.md";
    const { text, version, size } = (await files.read(path, { maxBytes: 100 }))!;
    return {
      chars: text.length,
      size,
      same: version === (await files.version(path)),
      list: await files.list("/.cinch/skills"),
    };
  });
  assert.deepEqual(seen, { chars: 100, size: 5_000, same: true, list: [{ name: "a", type: "directory" }] });
});

test("a reader sees the files that a thread keeps in its journal", async () => {
  const workspace = createWorkspace({ backend: threadBackend() });
  const write = call("write_file", { file_path: "/AGENTS.md", content: "Be kind." });
  const { seen } = await looking(workspace, (files) => read(files, "/AGENTS.md"), { steps: [write] });
  assert.equal(seen, "Be kind.");
});

test("the path rules of the agent bind a reader too", async () => {
  const workspace = createWorkspace({ backend: memoryBackend() });
  await workspace.upload({ "/a.md": "a", "/b.md": "b" });
  const rules: PathRule[] = [{ operations: ["read"], paths: ["/b.md"], mode: "deny" }];
  const both = async (files: WorkspaceReader) => [await read(files, "/a.md"), await read(files, "/b.md")];
  assert.deepEqual((await looking(workspace, both)).seen, ["a", "b"]);
  assert.deepEqual((await looking(workspace, both, { rules })).seen, ["a", null]);
});
