/** People, other threads and the program work in the same folder, and a rewind does not revert their changes. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { localWorkspace } from "@cinch/workspace";
import { desk, edit, folder, outcomes, read, remove, run, write } from "./desk.ts";

const appears = async (path: string) => {
  for (let n = 0; !existsSync(path); n++) {
    if (n > 6_000) throw new Error(`${path} does not appear`);
    await sleep(10);
  }
};

test("an ignored file that a person made after an earlier command is not deleted when a later command un-ignores it", async () => {
  using root = folder({ ".gitignore": ".env\n", "a.txt": "a\n" });
  await using h = await desk({ root: root.path });
  await h.turn(run("true"));
  await sleep(50);
  root.put(".env", "KEY=mine\n");
  await sleep(50);
  const seq = await h.turn(run("rm .gitignore"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.ok(existsSync(join(root.path, ".env")), JSON.stringify(files));
});

test("a file that another thread's rewind brought back while a command ran is not deleted with that command's thread", async () => {
  using root = folder({ "mine.txt": "mine\n" });
  const cache = mkdtempSync(join(tmpdir(), "cinch-undo-cache-"));
  const workspace = localWorkspace({ root: root.path, sandbox: "none", cache });
  await using h = await desk({ root: root.path, workspace });
  await using other = await desk({ root: root.path, workspace });
  const before = await other.turn(read("mine.txt"), remove("mine.txt"));
  const seq = h.getDisplayState().seq;
  const running = h.turn(run("touch started; sleep 1"));
  await appears(join(root.path, "started"));
  const back = await other.rewind({ toSeq: before, files: true });
  assert.equal(root.text("mine.txt"), "mine\n", JSON.stringify(back.files));
  await running;
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.ok(existsSync(join(root.path, "mine.txt")), JSON.stringify(files));
  rmSync(cache, { recursive: true, force: true, maxRetries: 9 });
});

test("a file whose restore failed can be restored by the same call again", async () => {
  using root = folder({ "dir/f.txt": "mine\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("rm -r dir"));
  root.put("dir", "a file in the way\n");
  const first = await h.rewind({ toSeq: seq, files: true });
  assert.notEqual(outcomes(first.files)["/dir/f.txt"], "restored");
  unlinkSync(join(root.path, "dir"));
  const second = await h.rewind({ toSeq: seq, files: true });
  assert.equal(existsSync(join(root.path, "dir/f.txt")), true, JSON.stringify([first.files, second.files]));
});

test("after a rewind to a moment at which the thread knew another version, it must read a person's one before overwriting it", async () => {
  using root = folder({ "a.txt": "one\n" });
  await using h = await desk({ root: root.path });
  await h.turn(read("a.txt"));
  const { seq } = h.getDisplayState();
  root.put("a.txt", "person\n");
  await h.turn(read("a.txt"), edit("a.txt", "person", "three"));
  await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.text("a.txt"), "person\n");
  // The conversation now contains only a read of "one".
  await h.turn(write("a.txt", "overwritten\n"));
  assert.equal(root.text("a.txt"), "person\n");
});

test("an upload through the workspace while a command runs is not recorded as the command's change", async () => {
  using root = folder({ "b.txt": "b\n" });
  const cache = mkdtempSync(join(tmpdir(), "cinch-undo-cache-"));
  const workspace = localWorkspace({ root: root.path, sandbox: "none", cache });
  await using h = await desk({ root: root.path, workspace });
  const { seq } = h.getDisplayState();
  const running = h.turn(run("touch started; sleep 1"));
  while (!existsSync(join(root.path, "started"))) await sleep(10);
  await workspace.upload({ "/uploaded.txt": "by the program\n" });
  await running;
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.ok(existsSync(join(root.path, "uploaded.txt")), JSON.stringify(files));
  rmSync(cache, { recursive: true, force: true, maxRetries: 9 });
});

test("a program that a person made executable after an earlier command is so again after a rewind", async () => {
  using root = folder({ "s.sh": "true\n" });
  chmodSync(join(root.path, "s.sh"), 0o644);
  await using h = await desk({ root: root.path });
  await h.turn(run("true"));
  chmodSync(join(root.path, "s.sh"), 0o755);
  await sleep(50);
  const seq = await h.turn(run("rm s.sh"));
  await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.mode("s.sh").toString(8), "755");
});

test("a command that restores the thread's earlier contents, after a person reverted them, is recorded as a change", async () => {
  using root = folder({ "a.txt": "one\n" });
  await using h = await desk({ root: root.path });
  await h.turn(run("true"));
  await h.turn(read("a.txt"), write("a.txt", "two\n"));
  root.put("a.txt", "one\n");
  await sleep(50);
  const seq = await h.turn(run("echo two > a.txt"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(outcomes(files), { "/a.txt": "restored" });
});
