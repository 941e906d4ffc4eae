/** A rewind reverts only changes of its own thread: no other files, and no changes of others to its files. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryData, MemoryStore, type AppendOptions } from "@cinch/core/store";
import { memoryStore } from "@cinch/core";
import type { StampedEvent } from "@cinch/core/journal";
import { localWorkspace } from "@cinch/workspace";
import { DyingStore } from "../../../core/test/dying-store.ts";
import { desk, folder, read, remove, run, write } from "./desk.ts";

test("files that were ignored before a command and are not after it are not deleted by a rewind", async () => {
  using root = folder({ ".gitignore": "data/\n.env\n", "data/precious.csv": "mine\n", ".env": "KEY=mine\n" });
  await using h = await desk({ root: root.path });
  const then = root.all();
  const seq = await h.turn(run("sed -i '/data/d; /env/d' .gitignore"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(root.all(), then, JSON.stringify(files));
});

test("the same above 64 MiB, of which nothing is kept anywhere", async () => {
  using root = folder({ ".gitignore": "data/\n", "data/small": "x" });
  execFileSync("truncate", ["-s", "65M", join(root.path, "data/precious.bin")]);
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("rm .gitignore"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.ok(existsSync(join(root.path, "data/precious.bin")), JSON.stringify(files));
});

test("an ignored file that a command renamed is not lost by a rewind", async () => {
  using root = folder({ ".gitignore": ".env\n", ".env": "KEY=mine\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("mv .env config.env"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.ok(Object.values(root.all()).includes("KEY=mine\n"), JSON.stringify({ files, left: root.all() }));
});

test("a file that a command moved, leaving a link, is not lost by a rewind", async () => {
  using root = folder({ "a.txt": "mine\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("mv a.txt b.txt && ln -s b.txt a.txt"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.equal(existsSync(join(root.path, "a.txt")), true, JSON.stringify(files));
});

test("a folder that a command moved, leaving a link, is not lost by a rewind", async () => {
  using root = folder({ "lib/one.ts": "1\n", "lib/two.ts": "2\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("mv lib src && ln -s src lib"));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.equal(existsSync(join(root.path, "lib/one.ts")), true, JSON.stringify(files));
});

test("changes that people made between a crash and the next start are not reverted as if a command had made them", async () => {
  using root = folder({ "a.txt": "a\n", "c.txt": "c\n" });
  const cache = mkdtempSync(join(tmpdir(), "cinch-finding-"));
  const workspace = () => localWorkspace({ root: root.path, sandbox: "none", cache });
  const data = new MemoryData();
  const store = new DyingStore(data);
  const first = await desk({ root: root.path, storage: store, workspace: workspace() });
  const { seq } = first.getDisplayState();
  // The process dies while the command runs, so the journal never gets its end.
  const over = first.turn(run("echo b > b.txt; touch started; sleep 0.5")).catch(() => undefined);
  while (!existsSync(join(root.path, "started"))) await new Promise((go) => setTimeout(go, 10));
  store.dieAt({ nth: 1, place: "before" });
  await over.then(
    () => undefined,
    () => undefined,
  );
  await first.close().catch(() => undefined);
  // Changes that a person makes afterwards.
  await sleep(600);
  root.put("a.txt", "a, and a day of my work\n");
  root.put("chapter.txt", "written by me\n");
  await using next = await desk({ root: root.path, storage: memoryStore(data), workspace: workspace() });
  const { files } = await next.rewind({ toSeq: seq, files: true });
  const left = root.all();
  rmSync(cache, { recursive: true, force: true, maxRetries: 9 });
  assert.equal(left["chapter.txt"], "written by me\n", JSON.stringify(files));
  assert.equal(left["a.txt"], "a, and a day of my work\n", JSON.stringify(files));
});

test("a file that a command overwrote can be reverted, also if the command restored what the thread had written before", async () => {
  using root = folder({ "a.txt": "old\n" });
  execFileSync("git", ["-C", root.path, "init", "-q"]);
  await using h = await desk({ root: root.path });
  await h.turn(
    read("a.txt"),
    write("a.txt", "by the agent\n"),
    run("git add -A && git -c user.name=a -c user.email=a@b commit -qm x"),
  );
  root.put("a.txt", "by the agent\nand by me\n");
  const seq = await h.turn(run("git checkout -q -- ."));
  assert.equal(root.text("a.txt"), "by the agent\n");
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.text("a.txt"), "by the agent\nand by me\n", JSON.stringify(files));
});

test("files that another thread wrote while a command ran are not reverted with the command's thread", async () => {
  using root = folder({ "b.txt": "b\n" });
  await using h = await desk({ root: root.path });
  const other = await h.createSession();
  await other.createThread({});
  const { seq } = h.getDisplayState();
  const running = h.turn(run("touch started; sleep 1"));
  while (!existsSync(join(root.path, "started"))) await new Promise((go) => setTimeout(go, 10));
  await other.sendMessage({ content: JSON.stringify([read("b.txt"), write("b.txt", "of the other thread\n")]) });
  await running;
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.text("b.txt"), "of the other thread\n", JSON.stringify(files));
});

test("a thread that is opened on another folder does not delete what is there", async () => {
  using one = folder({ "a.txt": "a\n" });
  using two = folder({ "precious.txt": "mine\n" });
  const cache = mkdtempSync(join(tmpdir(), "cinch-finding-"));
  const data = new MemoryData();
  const store = new DyingStore(data);
  const first = await desk({
    root: one.path,
    storage: store,
    workspace: localWorkspace({ root: one.path, sandbox: "none", cache }),
  });
  const { seq } = first.getDisplayState();
  const over = first.turn(run("touch started; sleep 0.5")).catch(() => undefined);
  while (!existsSync(join(one.path, "started"))) await new Promise((go) => setTimeout(go, 10));
  store.dieAt({ nth: 1, place: "before" });
  await over;
  await first.close().catch(() => undefined);
  await using next = await desk({
    root: two.path,
    storage: memoryStore(data),
    workspace: localWorkspace({ root: two.path, sandbox: "none", cache }),
  });
  const { files } = await next.rewind({ toSeq: seq, files: true });
  rmSync(cache, { recursive: true, force: true, maxRetries: 9 });
  assert.deepEqual(two.all(), { "precious.txt": "mine\n" }, JSON.stringify(files));
});

test("a directory with files whose names are not UTF-8 is not empty, and is not deleted by a rewind", async () => {
  using root = folder({ a: "a file\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("rm a && mkdir a"));
  // The user does this afterwards.
  execFileSync("bash", ["-c", `cd '${root.path}/a' && echo mine > $'caf\\xe9.txt'`]);
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.equal(execFileSync("bash", ["-c", `ls -d '${root.path}'/a/*`]).length > 0, true, JSON.stringify(files));
});

test("a directory with a file that has a backslash in its name is not empty", async () => {
  using root = folder({ a: "a file\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("rm a && mkdir a"));
  root.put("a/of\\mine.txt", "mine\n");
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.ok(existsSync(join(root.path, "a/of\\mine.txt")), JSON.stringify(files));
});

test("delete does not remove a file that changed after its contents were kept", async () => {
  using root = folder({ "a.txt": "a\n" });
  class Slow extends MemoryStore {
    override async append(id: string, events: readonly StampedEvent[], options: AppendOptions) {
      const result = await super.append(id, events, options);
      if (events.some((event) => event.type === "file_changed" && event.operation === "delete"))
        writeFileSync(join(root.path, "a.txt"), "saved by me just now\n");
      return result;
    }
  }
  await using h = await desk({ root: root.path, storage: new Slow(new MemoryData()) });
  const seq = await h.turn(remove("a.txt"));
  await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.text("a.txt"), "saved by me just now\n");
});
