import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { agentsMd, hostFolder } from "@cinch/memory";
import { call, say } from "@cinch/testkit";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  memoryBackend,
  storeBackend,
  withPolicy,
} from "@cinch/workspace";
import { counting, notesIn, started, summarising, systemOf } from "./started.ts";

async function workspaceWith(files: Record<string, string>, { trusted = true } = {}) {
  const workspace = createWorkspace({ backend: memoryBackend(), trusted });
  await workspace.upload(files);
  return workspace;
}

const element = (path: string, text: string): string => `<instructions path="${path}">\n${text}\n</instructions>`;

test("the user's AGENTS.md and the project's are in the head, the nearest last", async () => {
  const home = await mkdtemp(join(tmpdir(), "cinch-agents-"));
  await writeFile(join(home, "AGENTS.md"), "Be brief.\n");
  const workspace = await workspaceWith({ "/AGENTS.md": "Use tabs.\n", "/docs/AGENTS.md": "Not read yet." });
  const context = [agentsMd({ files: [hostFolder(home)] })];
  await using h = await started({ workspace, context, steps: [say("1")] });
  await h.sendMessage({ content: "a" });
  await rm(home, { recursive: true });
  const [first, second] = [element(`${home}/AGENTS.md`, "Be brief."), element("/AGENTS.md", "Use tabs.")];
  assert.ok(systemOf(h.requests[0]!).endsWith(`${first}\n\n${second}`), systemOf(h.requests[0]!));
});

test("that of a folder in which the agent works arrives as a dated note before the next step", async () => {
  const workspace = await workspaceWith({
    "/AGENTS.md": "Use tabs.",
    "/src/AGENTS.md": "Write tests.",
    "/src/deep/AGENTS.md": "No globals.",
    "/src/deep/a.ts": "1",
    "/other/AGENTS.md": "Never.",
  });
  const steps = [call("read_file", { file_path: "/src/deep/a.ts" }), say("1"), say("2")];
  await using h = await started({ workspace, context: [agentsMd()], steps });
  await h.sendMessage({ content: "a" });
  await h.sendMessage({ content: "b" });
  const [note, ...others] = notesIn(h.seen);
  assert.deepEqual(others, []);
  assert.match(note!, /^Changed since this conversation began: AGENTS\.md \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)\n\n/);
  const texts = [element("/src/AGENTS.md", "Write tests."), element("/src/deep/AGENTS.md", "No globals.")];
  assert.ok(note!.endsWith(texts.join("\n\n")), note);
  assert.doesNotMatch(JSON.stringify(h.requests), /Never/);
});

test("a change is one note, the head keeps its bytes, and after a compaction the next head has it", async () => {
  const workspace = await workspaceWith({ "/AGENTS.md": "Use tabs." });
  const steps = [say("1"), say("2"), say("3"), say("4")];
  await using h = await started({ workspace, context: [agentsMd()], steps, memory: summarising });
  await h.sendMessage({ content: "a" });
  await workspace.upload({ "/AGENTS.md": "Use spaces." });
  await h.sendMessage({ content: "b" });
  await h.sendMessage({ content: "c" });
  assert.equal(notesIn(h.seen).length, 1);
  assert.match(notesIn(h.seen)[0]!, /Use spaces\./);
  const prefix = (at: number, length: number) => JSON.stringify(h.requests[at]!.slice(0, length));
  assert.equal(prefix(2, h.requests[1]!.length), prefix(1, h.requests[1]!.length));
  assert.match(systemOf(h.requests[2]!), /Use tabs\./);
  await h.compact();
  await h.sendMessage({ content: "d" });
  assert.match(systemOf(h.requests[3]!), /Use spaces\./);
  assert.equal(notesIn(h.seen).length, 1);
});

test("in an untrusted workspace only listed files are read", async () => {
  const files = {
    "/AGENTS.md": "Obey me.",
    "/src/AGENTS.md": "Me too.",
    "/src/a.ts": "1",
    "/docs/RULES.md": "Listed.",
  };
  const steps = () => [call("read_file", { file_path: "/src/a.ts" }), say("1")];
  const { workspace, reads } = counting(await workspaceWith(files, { trusted: false }));
  await using h = await started({ workspace, context: [agentsMd()], steps: steps() });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(reads, []);
  assert.doesNotMatch(JSON.stringify(h.requests), /Obey me|Me too/);
  await using listed = await started({ workspace, context: [agentsMd({ files: ["/docs/RULES.md"] })], steps: steps() });
  await listed.sendMessage({ content: "a" });
  assert.deepEqual([...new Set(reads)], ["/docs/RULES.md"]);
  assert.match(systemOf(listed.requests[0]!), /Listed\./);
});

test("long files are cut and the farthest are left out, each with a sentence", async () => {
  const names = ["/AGENTS.md", "/a/AGENTS.md", "/a/b/AGENTS.md", "/a/b/c/AGENTS.md"];
  const files = Object.fromEntries(names.map((path) => [path, `${path} `.padEnd(25_000, "x")]));
  const workspace = await workspaceWith({ ...files, "/a/b/c/d.ts": "1" });
  const context = [agentsMd({ files: names })];
  await using h = await started({ workspace, context, steps: [say("1")] });
  await h.sendMessage({ content: "a" });
  const system = systemOf(h.requests[0]!);
  assert.ok(system.length < 62_000, String(system.length));
  assert.match(
    system,
    /<instructions path="\/AGENTS\.md">\n\(Left out, because there are too many instructions: 25000 bytes\.\)/,
  );
  assert.match(system, /\(Only the first 20000 characters of \/a\/b\/c\/AGENTS\.md are here: it has 25000 bytes\.\)/);
});

test("subagents get them too", async () => {
  const workspace = await workspaceWith({ "/AGENTS.md": "Use tabs." });
  const steps = [call("task", { agent: "general-purpose", prompt: "Go." }), say("gone"), say("done")];
  await using h = await started({ workspace, context: [agentsMd()], steps });
  await h.sendMessage({ content: "a" });
  assert.match(systemOf(h.requests[1]!), /Use tabs\./);
});

test("the agent may edit AGENTS.md, and is asked as for any edit", async () => {
  const workspace = await workspaceWith({ "/AGENTS.md": "Use tabs." });
  const edit = { file_path: "/AGENTS.md", old_string: "tabs", new_string: "spaces" };
  const steps = [call("read_file", { file_path: "/AGENTS.md" }), call("edit_file", edit), say("1")];
  await using h = await started({ workspace, context: [agentsMd()], steps });
  const asked: string[] = [];
  h.subscribe((event) => {
    if (event.type !== "tool_approval_required") return;
    asked.push(event.toolName);
    void h.respondToToolApproval({ decision: "approve" });
  });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(asked, ["edit_file"]);
  assert.match(notesIn(h.seen).join(), /Use spaces\./);
});

test("what an agent writes below a route to the store is in the prompts of later threads, if it is listed", async () => {
  const routes = { "/memories/": storeBackend({ scope: "resource" }) };
  const workspace = createWorkspace({ backend: compositeBackend({ default: memoryBackend(), routes }) });
  const write = { file_path: "/memories/NOTES.md", content: "The user prefers short answers." };
  await using h = await started({
    workspace,
    context: [agentsMd({ files: ["/memories/NOTES.md"] })],
    steps: [call("write_file", write), say("noted"), say("short")],
    permissions: [{ category: "edit", policy: "allow" }],
  });
  await h.sendMessage({ content: "Remember that." });
  await h.createThread();
  await h.sendMessage({ content: "Hello." });
  assert.match(systemOf(h.requests.at(-1)!), /The user prefers short answers\./);
});

test("a file that is gone is a note, and an empty one adds nothing", async () => {
  const workspace = await workspaceWith({ "/AGENTS.md": "Use tabs.", "/docs/AGENTS.md": "  \n" });
  const context = [agentsMd({ files: ["/docs/AGENTS.md"] })];
  await using h = await started({ workspace, context, steps: [say("1"), say("2")] });
  await h.sendMessage({ content: "a" });
  assert.doesNotMatch(systemOf(h.requests[0]!), /docs/);
  await workspace.upload({ "/AGENTS.md": "" });
  await h.sendMessage({ content: "b" });
  assert.match(notesIn(h.seen).join(), /^Not there any more, and no longer in force: AGENTS\.md/);
});

test("a file that is not text, a pipe and a link out of the workspace are not read, and harm no other", async () => {
  const root = await mkdtemp(join(tmpdir(), "cinch-agents-"));
  for (const name of ["binary", "pipe", "link", "deep/er"]) await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, "AGENTS.md"), "Use tabs.");
  await writeFile(join(root, "binary", "AGENTS.md"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
  execFileSync("mkfifo", [join(root, "pipe", "AGENTS.md")]);
  await symlink("/etc/passwd", join(root, "link", "AGENTS.md"));
  await writeFile(join(root, "deep", "er", "AGENTS.md"), "Write tests.");
  const files = ["binary", "pipe", "link", "deep/er"].map((name) => `/${name}/a.ts`);
  for (const file of files) await writeFile(join(root, file), "1");
  const backend = directoryBackend({ root });
  const workspace = createWorkspace({ backend, root, trusted: true });
  const steps = [call(...files.map((path): [string, object] => ["read_file", { file_path: path }])), say("1")];
  await using h = await started({ workspace, context: [agentsMd()], steps });
  await h.sendMessage({ content: "a" });
  assert.match(systemOf(h.requests[0]!), /Use tabs\./);
  assert.match(notesIn(h.seen).join(), /Write tests\./);
  assert.doesNotMatch(JSON.stringify(h.requests), /ELF|root:/);
  assert.deepEqual(h.infos, ["/binary/AGENTS.md: It is not text, and is not used. Save it as UTF-8."]);
  await rm(root, { recursive: true });
});

test("a file that can't be read keeps its last text, is reported, and harms no other", async () => {
  let broken = "/AGENTS.md";
  const backend = withPolicy(memoryBackend(), {
    before: ({ operation, path }) => {
      if (operation !== "write" && path === broken) throw new Error("the disk is broken");
      return undefined;
    },
  });
  const workspace = createWorkspace({ backend });
  await workspace.upload({ "/AGENTS.md": "Use tabs.", "/b.md": "Write tests." });
  const context = [agentsMd({ files: ["/AGENTS.md", "/b.md"] })];
  await using h = await started({ workspace, context, steps: [say("1"), say("2"), say("3")] });
  await h.sendMessage({ content: "a" });
  assert.doesNotMatch(systemOf(h.requests[0]!), /Use tabs/);
  assert.match(systemOf(h.requests[0]!), /Write tests\./);
  assert.match(h.infos.join(), /^\/AGENTS\.md: It can't be read: .*the disk is broken/);
  broken = "/b.md";
  await h.sendMessage({ content: "b" });
  assert.equal(notesIn(h.seen).length, 1);
  assert.match(notesIn(h.seen)[0]!, /Use tabs\./);
  assert.doesNotMatch(notesIn(h.seen)[0]!, /gone/);
});

/** A workspace of which one file at a time can't be read. */
async function withOneBroken(files: Record<string, string>) {
  const state = { broken: "" };
  const backend = withPolicy(memoryBackend(), {
    before: ({ operation, path }) => {
      if (operation !== "write" && path === state.broken) throw new Error("EIO");
      return undefined;
    },
  });
  const workspace = createWorkspace({ backend, trusted: true });
  await workspace.upload(files);
  return Object.assign(state, { workspace });
}

test("after a restart, a file that can't be read keeps what the prompt says, until it can be read", async () => {
  const state = await withOneBroken({ "/AGENTS.md": "Never push.", "/b.md": "Write tests." });
  const { workspace } = state;
  const context = () => [agentsMd({ files: ["/b.md"] })];
  await using h = await started({ workspace, context: context(), steps: [say("1")] });
  await h.sendMessage({ content: "a" });
  const threadId = h.getCurrentThreadId()!;
  state.broken = "/AGENTS.md";
  await using later = await started({ workspace, context: context(), steps: [say("2"), say("3")], after: h });
  await later.switchThread({ threadId });
  await later.sendMessage({ content: "b" });
  assert.deepEqual(notesIn(later.seen), []);
  assert.match(later.infos.join(), /"AGENTS\.md" could not be read: \/AGENTS\.md: It can't be read: .*EIO/);
  state.broken = "";
  await workspace.upload({ "/AGENTS.md": "Never push to main." });
  await later.sendMessage({ content: "c" });
  assert.equal(notesIn(later.seen).length, 1);
  assert.match(notesIn(later.seen)[0]!, /Never push to main\./);
});

test("a file that could not be read when the prompt was made does not hide changes of others", async () => {
  const state = await withOneBroken({ "/AGENTS.md": "Never push.", "/b.md": "Write tests." });
  const { workspace } = state;
  state.broken = "/AGENTS.md";
  const context = [agentsMd({ files: ["/b.md"] })];
  await using h = await started({ workspace, context, steps: [say("1"), say("2")] });
  await h.sendMessage({ content: "a" });
  await workspace.upload({ "/b.md": "Write more tests." });
  await h.sendMessage({ content: "b" });
  assert.match(notesIn(h.seen).join(), /Write more tests\./);
});

test("a file that is no path is refused", () => {
  for (const file of ["AGENTS.md", "/", "/a/../b", "/a/", 3 as never])
    assert.throws(() => agentsMd({ files: [file] }), { code: "INVALID_CONFIG" }, String(file));
  assert.throws(() => agentsMd({ files: "/a" } as never), { code: "INVALID_CONFIG", message: /must be a list/ });
  assert.throws(() => agentsMd({ file: "/a" } as never), { code: "INVALID_CONFIG", message: /Unknown key "file"/ });
});
