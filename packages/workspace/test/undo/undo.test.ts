import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  memoryBackend,
  storeBackend,
  threadBackend,
} from "@cinch/workspace";
import { desk, edit, folder, outcomes, read, remove, run, write, type Calls } from "./desk.ts";

const everything: Calls[] = [
  read("edited.txt"),
  edit("edited.txt", "two", "2"),
  write("made/by/tool.txt", "new\n"),
  remove("deleted.txt"),
  run(
    "echo more >> appended.txt; rm gone.txt; mkdir -p made/by && echo hi > made/by/command.txt; mv moved.txt there.txt",
  ),
];
const before = {
  "edited.txt": "one\r\ntwo\r\n",
  "deleted.txt": "d\n",
  "appended.txt": "a\n",
  "gone.txt": "g\n",
  "moved.txt": "m\n",
  "untouched.txt": "u\n",
};

test("a rewind reverts the conversation and the files that tools and commands changed", async () => {
  using root = folder(before);
  chmodSync(join(root.path, "gone.txt"), 0o751);
  await using h = await desk({ root: root.path });
  await h.turn(write("first.txt", "stays\n"));
  const then = root.all();
  const seq = await h.turn(...everything);
  assert.deepEqual(Object.keys(h.getDisplayState().modifiedFiles).toSorted(), [
    "/appended.txt",
    "/deleted.txt",
    "/edited.txt",
    "/first.txt",
    "/gone.txt",
    "/made/by/command.txt",
    "/made/by/tool.txt",
    "/moved.txt",
    "/there.txt",
  ]);
  const { files, messages } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(root.all(), then);
  assert.equal(root.mode("gone.txt"), 0o751);
  assert.equal(messages, 7);
  assert.deepEqual(outcomes(files), {
    "/appended.txt": "restored",
    "/deleted.txt": "restored",
    "/edited.txt": "restored",
    "/gone.txt": "restored",
    "/made/by/command.txt": "deleted",
    "/made/by/tool.txt": "deleted",
    "/moved.txt": "restored",
    "/there.txt": "deleted",
  });
  assert.deepEqual(Object.keys(h.getDisplayState().modifiedFiles), ["/first.txt"]);
  assert.equal(h.getDisplayState().messages.length, 3);
  // The thread continues from there, with what it had seen then.
  await h.turn(read("edited.txt"), edit("edited.txt", "one", "1"));
  assert.equal(root.text("edited.txt"), "1\r\ntwo\r\n");
});

test("files can be reverted without the conversation, and the conversation without files", async () => {
  using root = folder({ "a.txt": "old\n" });
  await using h = await desk({ root: root.path });
  const first = await h.turn(read("a.txt"), write("a.txt", "new\n"));
  const { messages } = h.getDisplayState();
  await h.rewind({ toSeq: first, files: true, conversation: false });
  assert.equal(root.text("a.txt"), "old\n");
  assert.deepEqual(h.getDisplayState().messages, messages);
  const second = await h.turn(read("a.txt"), write("a.txt", "newer\n"));
  await h.rewind({ toSeq: second });
  assert.equal(root.text("a.txt"), "newer\n");
  assert.deepEqual(h.getDisplayState().messages, messages);
  await assert.rejects(h.rewind({ toSeq: second, conversation: false }), { code: "INVALID_INPUT" });
});

test("a dry run reports the outcome of each file, and changes nothing", async () => {
  using root = folder(before);
  await using h = await desk({ root: root.path });
  const seq = await h.turn(...everything);
  const now = root.all();
  const state = h.getDisplayState();
  const said = await h.rewind({ toSeq: seq, files: true, dryRun: true });
  assert.deepEqual(root.all(), now);
  assert.equal(h.getDisplayState(), state);
  assert.deepEqual(said, await h.rewind({ toSeq: seq, files: true }));
});

test("a file that another process changed since is reported, and overwritten only on request; its contents are kept", async () => {
  using root = folder({ "a.txt": "a0\n", "b.txt": "b0\n", "c.txt": "c0\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(
    read("a.txt"),
    write("a.txt", "a1\n"),
    read("b.txt"),
    write("b.txt", "b1\n"),
    write("d.txt", "d1\n"),
    run("echo c1 > c.txt"),
  );
  for (const name of ["a.txt", "b.txt", "d.txt"]) root.put(name, "mine\n");
  const first = await h.rewind({ toSeq: seq, files: true, conversation: false });
  assert.deepEqual(outcomes(first.files), {
    "/a.txt": "conflict",
    "/b.txt": "conflict",
    "/c.txt": "restored",
    "/d.txt": "conflict",
  });
  assert.deepEqual(root.all(), { "a.txt": "mine\n", "b.txt": "mine\n", "c.txt": "c0\n", "d.txt": "mine\n" });
  const second = await h.rewind({ toSeq: seq, files: true, conversation: false, overwrite: ["/a.txt"] });
  assert.equal(outcomes(second.files)["/a.txt"], "restored");
  assert.equal(outcomes(second.files)["/b.txt"], "conflict");
  assert.deepEqual(root.all(), { "a.txt": "a0\n", "b.txt": "mine\n", "c.txt": "c0\n", "d.txt": "mine\n" });
  const here = h.getDisplayState().seq;
  await h.rewind({ toSeq: seq, files: true, conversation: false, overwrite: true });
  assert.deepEqual(root.all(), { "a.txt": "a0\n", "b.txt": "b0\n", "c.txt": "c0\n" });
  // The overwritten contents can be recovered.
  await h.rewind({ toSeq: here, files: true, conversation: false });
  assert.deepEqual(root.all(), { "a.txt": "a0\n", "b.txt": "mine\n", "c.txt": "c0\n", "d.txt": "mine\n" });
});

test("a file that another process changed in between is restored to what that process wrote, and the result says so", async () => {
  using root = folder({ "a.txt": "old\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(read("a.txt"), write("a.txt", "first\n"));
  root.put("a.txt", "mine\n");
  await h.turn(read("a.txt"), write("a.txt", "second\n"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.text("a.txt"), "mine\n");
  assert.deepEqual(files, [
    { path: "/a.txt", outcome: "restored", detail: "Reverted only to what another program wrote in between." },
  ]);
});

test("a file that became a directory, and a directory that became a file, become what they were", async () => {
  using root = folder({ a: "a file\n", "b/c": "in a directory\n" });
  await using h = await desk({ root: root.path });
  const then = root.all();
  const seq = await h.turn(run("rm a && mkdir a && echo x > a/x && rm -r b && echo b > b"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(root.all(), then, JSON.stringify(files));
});

test("ignored files are not reverted, and a repository's own files are never touched", async () => {
  using root = folder({ ".gitignore": "dist/\n*.log\n", "a.txt": "a\n", "dist/out.js": "1\n", "x.log": "1\n" });
  const git = (...args: string[]) => execFileSync("git", ["-C", root.path, ...args], { encoding: "utf8" });
  git("init", "-q");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("echo 2 > dist/out.js; echo 2 > x.log; echo 2 > a.txt; git branch other"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(outcomes(files), { "/a.txt": "restored" });
  assert.deepEqual([root.text("dist/out.js"), root.text("x.log")], ["2\n", "2\n"]);
  assert.match(git("branch"), /other/);
});

test("after a command that changes ignore files, a rewind leaves files alone that no command changed", async () => {
  using root = folder({
    ".gitignore": "dist/\n*.log\n",
    "dist/out.js": "mine\n",
    "x.log": "mine\n",
    "y.txt": "mine\n",
  });
  await using h = await desk({ root: root.path });
  await sleep(300);
  const seq = await h.turn(run("printf '*.txt\\n' > .gitignore; echo new > new.js"), run("echo more >> x.log"));
  assert.deepEqual(Object.keys(h.getDisplayState().modifiedFiles).toSorted(), ["/.gitignore", "/new.js", "/x.log"]);
  await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(root.all(), {
    ".gitignore": "dist/\n*.log\n",
    "dist/out.js": "mine\n",
    "x.log": "mine\n",
    "y.txt": "mine\n",
  });
});

test("unchanged files are not recorded, and a command that changes nothing adds one checkpoint", async () => {
  using root = folder(before);
  await using h = await desk({ root: root.path });
  await h.turn(run("cat *.txt"), run("touch untouched.txt"), read("gone.txt"));
  const recorded = h.events.filter(({ type }) => type === "file_changed" || type === "checkpoint_created");
  assert.deepEqual(
    recorded.map((event) => (event.type === "checkpoint_created" ? event.reason : event.type)),
    ["command", "command"],
  );
});

test("the first change of a turn has a checkpoint before it; what a tool wrote while a command ran is its own", async () => {
  using root = folder({ "a.txt": "a\n" });
  await using h = await desk({ root: root.path });
  await h.turn(write("x.txt", "1\n"), write("y.txt", "2\n"));
  const types = h.events.filter(({ type }) => type === "file_changed" || type === "checkpoint_created");
  assert.deepEqual(
    types.map(({ type }) => type),
    ["checkpoint_created", "file_changed", "file_changed"],
  );
  await h.turn([
    ["execute", { command: "sleep 0.5; echo b > b.txt" }],
    ["write_file", { file_path: "c.txt", content: "c\n" }],
  ]);
  const operations = h.events.flatMap((event) =>
    event.type === "file_changed" ? [[event.path, event.operation]] : [],
  );
  assert.deepEqual(operations.slice(2).toSorted(), [
    ["/b.txt", "command"],
    ["/c.txt", "write"],
  ]);
});

test("files of the thread, of the store and of a folder are all restored, under the paths that the agent uses", async () => {
  using root = folder({ "a.txt": "a\n" });
  const workspace = createWorkspace({
    backend: compositeBackend({
      default: threadBackend(),
      routes: {
        "/shared/": storeBackend(),
        "/repo/": directoryBackend({ root: root.path }),
        "/tmp/": memoryBackend(),
      },
    }),
  });
  await using h = await desk({ root: root.path, workspace });
  await h.turn(write("notes.md", "1\n"), write("shared/m.md", "1\n"), write("tmp/t.md", "1\n"));
  const seq = await h.turn(
    write("notes.md", "2\n"),
    write("shared/m.md", "2\n"),
    write("tmp/t.md", "2\n"),
    write("repo/b.txt", "b\n"),
    write("more.md", "2\n"),
  );
  const held = async (path: string) => {
    const { messages } = h.getDisplayState();
    await h.turn(read(path));
    const { outcomes: done } = h.getDisplayState().messages[messages.length + 1]!;
    return JSON.stringify(Object.values(done)[0]?.result.content);
  };
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(outcomes(files), {
    "/more.md": "deleted",
    "/notes.md": "restored",
    "/repo/b.txt": "deleted",
    "/shared/m.md": "restored",
    "/tmp/t.md": "restored",
  });
  for (const path of ["notes.md", "shared/m.md", "tmp/t.md"]) assert.match(await held(path), /lines 1-1 of 1.*\\t1"/s);
  assert.match(await held("more.md"), /more\.md/);
  assert.deepEqual(root.all(), { "a.txt": "a\n" });
});

test("a rewind of the conversation alone leaves the files of the thread as they are", async () => {
  using root = folder();
  const workspace = createWorkspace({ backend: threadBackend() });
  await using h = await desk({ root: root.path, workspace });
  await h.turn(write("a.md", "1\n"), write("b.md", "1\n"));
  const seq = await h.turn(write("a.md", "2\n"), remove("b.md"), write("c.md", "2\n"));
  await h.rewind({ toSeq: seq });
  await h.turn([
    ["ls", {}],
    ["read_file", { file_path: "a.md" }],
  ]);
  const [ls, file] = Object.values(h.getDisplayState().messages.at(-2)!.outcomes).map(({ result }) => result.content);
  assert.match(`${ls}`, /a\.md[^]*c\.md/);
  assert.doesNotMatch(`${ls}`, /b\.md/);
  assert.match(`${file}`, /2/);
});

test("two harnesses in one folder do not harm each other's checkpoints", async () => {
  using root = folder({ "a.txt": "a\n", "b.txt": "b\n" });
  await using one = await desk({ root: root.path });
  await using two = await desk({ root: root.path });
  const [first, second] = await Promise.all([
    one.turn(run("echo 1 >> a.txt"), run("echo 2 >> a.txt"), write("one.txt", "1\n")),
    two.turn(read("b.txt"), write("b.txt", "2\n"), write("two.txt", "2\n")),
  ]);
  await two.rewind({ toSeq: second, files: true });
  assert.deepEqual([root.text("b.txt"), root.all()["two.txt"]], ["b\n", undefined]);
  assert.equal(root.text("a.txt"), "a\n1\n2\n");
  await one.rewind({ toSeq: first, files: true });
  assert.deepEqual(root.all(), { "a.txt": "a\n", "b.txt": "b\n" });
});

test("diff shows what the thread has changed since any moment, as unified diffs", async () => {
  using root = folder({ "a.txt": "one\ntwo\nthree\n", "gone.txt": "g", bin: "\0x" });
  await using h = await desk({ root: root.path });
  await h.turn(read("a.txt"), edit("a.txt", "two", "2"), write("n.txt", "new\n"));
  const seq = await h.turn(run("rm gone.txt; printf '\\0y' > bin; echo four >> a.txt"));
  assert.deepEqual(await h.diff(), [
    {
      path: "/a.txt",
      status: "modified",
      diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n",
    },
    { path: "/bin", status: "modified", diff: "", note: "Not text." },
    {
      path: "/gone.txt",
      status: "deleted",
      diff: "--- a/gone.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-g\n\\ No newline at end of file\n",
    },
    { path: "/n.txt", status: "added", diff: "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,1 @@\n+new\n" },
  ]);
  const [since] = await h.diff({ since: seq });
  assert.equal(since?.diff, "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n 2\n three\n+four\n");
  await h.rewind({ toSeq: 1, files: true, conversation: false });
  assert.deepEqual(await h.diff(), []);
});

test("without a workspace there is nothing to revert, and the error says so", async () => {
  using root = folder();
  await using h = await desk({ root: root.path, config: { workspace: undefined } as never });
  await assert.rejects(h.rewind({ toSeq: 1, files: true }), { code: "INVALID_INPUT" });
  await assert.rejects(h.diff(), { code: "INVALID_INPUT" });
});

test("a folder that is missing or read-only is reported as failed, and the rest is restored", async () => {
  using root = folder({ "in/a.txt": "a\n", "b.txt": "b\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(read("in/a.txt"), write("in/a.txt", "2\n"), read("b.txt"), write("b.txt", "2\n"));
  rmSync(join(root.path, "in"), { recursive: true });
  root.put("in", "a file now\n");
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(outcomes(files), { "/in/a.txt": "conflict", "/b.txt": "restored" });
  assert.deepEqual(root.all(), { in: "a file now\n", "b.txt": "b\n" });
});
