/** Files that are not small texts: links, programs and large files. */
import assert from "node:assert/strict";
import { chmodSync, readdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { localWorkspace } from "@cinch/workspace";
import { desk, folder, outcomes, read, remove, run, write } from "./desk.ts";

test("nothing is written through a link that has replaced a file or its folder", async () => {
  using root = folder({ "a.txt": "a\n", "b.txt": "mine\n", "in/c.txt": "c\n", "other/c.txt": "mine\n" });
  await using h = await desk({ root: root.path });
  const then = root.all();
  const seq = await h.turn(run("rm a.txt; ln -s b.txt a.txt; rm -r in; ln -s other in"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(outcomes(files), { "/a.txt": "restored", "/in": "deleted", "/in/c.txt": "restored" });
  assert.deepEqual(root.all(), then);
});

test("a link that another process made is removed only on request, and its target never", async () => {
  using root = folder({ "a.txt": "a\n", "b.txt": "mine\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(read("a.txt"), write("a.txt", "2\n"));
  rmSync(join(root.path, "a.txt"));
  symlinkSync("b.txt", join(root.path, "a.txt"));
  const how = { toSeq: seq, files: true, conversation: false };
  assert.deepEqual(outcomes((await h.rewind(how)).files), { "/a.txt": "conflict" });
  assert.deepEqual(outcomes((await h.rewind({ ...how, overwrite: true })).files), { "/a.txt": "restored" });
  assert.deepEqual(root.all(), { "a.txt": "a\n", "b.txt": "mine\n" });
});

test("a program that was deleted can be run again after a rewind, whether a tool or a command deleted it", async () => {
  using root = folder({ "one.sh": "1\n", "two.sh": "2\n", "in/three.sh": "3\n", "four.sh": "4\n" });
  const names = ["one.sh", "two.sh", "in/three.sh", "four.sh"];
  for (const name of names) chmodSync(join(root.path, name), 0o755);
  await using h = await desk({ root: root.path });
  const seq = await h.turn(
    remove("one.sh"),
    run("rm two.sh"),
    remove("in/"),
    read("four.sh"),
    write("four.sh", "5\n"),
    run("rm four.sh"),
  );
  await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(
    names.map((name) => root.mode(name)),
    [0o755, 0o755, 0o755, 0o755],
  );
});

test("a file that is too large to read is deleted if a command created it, and lost if it existed before", async () => {
  using root = folder({ "a.txt": "a\n" });
  truncateSync(join(root.path, "a.txt"), 300 * 1024 * 1024);
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("truncate -s 300M new.bin; truncate -s 301M a.txt"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(outcomes(files), { "/a.txt": "lost", "/new.bin": "deleted" });
});

test("a cache that is deleted while in use is created again", async () => {
  using root = folder({ "a.txt": "a\n" });
  using cache = folder();
  const workspace = localWorkspace({ root: root.path, sandbox: "none", cache: cache.path });
  await using h = await desk({ root: root.path, workspace });
  await h.turn(run("cat a.txt"));
  for (const name of readdirSync(cache.path)) rmSync(join(cache.path, name), { recursive: true });
  const seq = await h.turn(run("echo 1 > a.txt"), run("echo 2 > a.txt"));
  await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.text("a.txt"), "a\n");
});
