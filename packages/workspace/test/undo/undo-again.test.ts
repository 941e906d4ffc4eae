/** Repeated rewinds, and rewinds at difficult moments. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createWorkspace, localWorkspace, threadBackend } from "@cinch/workspace";
import { desk, folder, read, run, write } from "./desk.ts";

const within = <T>(ms: number, work: Promise<T>): Promise<T | "late"> =>
  Promise.race([work, sleep(ms, "late" as const)]);

const ends = (h: Awaited<ReturnType<typeof desk>>) =>
  h.events.flatMap((event) => (event.type === "tool_end" ? [event.result] : []));

const cacheOf = () => {
  const path = mkdtempSync(join(tmpdir(), "cinch-undo-cache-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 9 }) };
};

test("a conflict that a rewind has reported can be decided afterwards", async () => {
  using root = folder({ "a.txt": "old\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(read("a.txt"), write("a.txt", "new\n"));
  root.put("a.txt", "mine\n");
  const first = await h.rewind({ toSeq: seq, files: true });
  assert.equal(first.files[0]?.outcome, "conflict");
  // The caller decides to overwrite it.
  const second = await h.rewind({ toSeq: seq, files: true, overwrite: ["/a.txt"] });
  assert.equal(root.text("a.txt"), "old\n", JSON.stringify(second));
});

test("contents that a rewind has overwritten can be recovered", async () => {
  using root = folder({ "a.txt": "old\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(read("a.txt"), write("a.txt", "new\n"));
  root.put("a.txt", "mine\n");
  const here = h.getDisplayState().seq;
  await h.rewind({ toSeq: seq, files: true, overwrite: true });
  assert.equal(root.text("a.txt"), "old\n");
  const back = await Promise.all(
    [here, h.getDisplayState().seq - 2].map((toSeq) =>
      h.rewind({ toSeq, files: true, conversation: false }).catch((error: Error) => error.message),
    ),
  );
  assert.equal(root.text("a.txt"), "mine\n", JSON.stringify(back));
});

test("after a rewind of only the conversation, the changes of the thread to files are still known", async () => {
  using root = folder({ "a.txt": "old\n" });
  await using h = await desk({ root: root.path });
  const { seq } = h.getDisplayState();
  const second = await h.turn(read("a.txt"), write("a.txt", "new\n"));
  await h.rewind({ toSeq: second });
  assert.deepEqual(Object.keys(h.getDisplayState().modifiedFiles), ["/a.txt"]);
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.equal(root.text("a.txt"), "old\n", JSON.stringify(files));
});

test("files that a rewind of the conversation kept are no conflict for a later rewind of files", async () => {
  using root = folder();
  await using h = await desk({ root: root.path, workspace: createWorkspace({ backend: threadBackend() }) });
  const { seq } = h.getDisplayState();
  await h.turn(write("a.md", "1\n"));
  const second = await h.turn(write("a.md", "2\n"));
  await h.rewind({ toSeq: second });
  const { files } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(files, [{ path: "/a.md", outcome: "deleted" }]);
});

test("after a rewind behind the moment at which a file was read, it has to be read again before it is written", async () => {
  using root = folder({ "a.txt": "mine\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(read("a.txt"), write("a.txt", "2\n"));
  await h.rewind({ toSeq: seq, files: true });
  await h.turn(write("a.txt", "blind\n"));
  assert.equal(root.text("a.txt"), "mine\n");
});

test("a repository's own files are never touched, also where .git is a file", async () => {
  using root = folder({ "a.txt": "a\n" });
  const elsewhere = mkdtempSync(join(tmpdir(), "cinch-finding-"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", root.path, ...args], { encoding: "utf8", stdio: "pipe" });
  git("init", "-q", `--separate-git-dir=${elsewhere}/one`);
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run(`git init -q --separate-git-dir=${elsewhere}/two`));
  const { files } = await h.rewind({ toSeq: seq, files: true });
  const works = (() => {
    try {
      return git("status", "--short") !== "";
    } catch (error) {
      return String(error);
    }
  })();
  rmSync(elsewhere, { recursive: true, force: true, maxRetries: 9 });
  assert.equal(works, true, JSON.stringify(files));
});

test("two concurrent rewinds both end, and report the outcome of each file", async () => {
  using root = folder({ "a.txt": "a\n" });
  await using h = await desk({ root: root.path });
  const one = await h.turn(read("a.txt"), write("a.txt", "2\n"));
  const two = await h.turn(write("a.txt", "3\n"), run("echo x > b.txt"));
  const results = await within(
    50_000,
    Promise.all([h.rewind({ toSeq: two, files: true }), h.rewind({ toSeq: one, files: true })]),
  );
  assert.notEqual(results, "late");
  assert.deepEqual(root.all(), { "a.txt": "a\n" }, JSON.stringify(results));
});

test("an input that is sent while files are restored begins afterwards", async () => {
  using root = folder({ "a.txt": "a\n" });
  await using h = await desk({ root: root.path });
  const seq = await h.turn(read("a.txt"), write("a.txt", "2\n"), run("for n in $(seq 200); do echo $n > f$n; done"));
  const rewinding = h.rewind({ toSeq: seq, files: true });
  await sleep(60);
  const sent = h.sendMessage({ content: JSON.stringify([run("cat a.txt; ls | wc -l")]) });
  const { files } = await rewinding;
  const result = await within(50_000, sent);
  assert.deepEqual(
    files.filter(({ outcome }) => !/restored|deleted/.test(outcome)),
    [],
  );
  assert.deepEqual(root.all(), { "a.txt": "a\n" }, JSON.stringify(result));
});

test("a rewind lists commands whose changes are untracked", async () => {
  using root = folder({ "a.txt": "a\n" });
  using cache = cacheOf();
  writeFileSync(join(cache.path, "undo"), "no folder");
  await using h = await desk({
    root: root.path,
    workspace: localWorkspace({ root: root.path, sandbox: "none", cache: cache.path }),
  });
  const seq = await h.turn(run("echo gone > a.txt"));
  const result = await h.rewind({ toSeq: seq, files: true });
  assert.notDeepEqual(result, { toSeq: seq, messages: 3, files: [] });
});

test("the result or an event says so when a command runs whose changes can't be reverted", async () => {
  using root = folder({ "a.txt": "a\n" });
  using cache = cacheOf();
  writeFileSync(join(cache.path, "undo"), "no folder");
  await using h = await desk({
    root: root.path,
    workspace: localWorkspace({ root: root.path, sandbox: "none", cache: cache.path }),
  });
  await h.turn(run("echo gone > a.txt"));
  const isReported =
    h.events.some((event) => event.type === "info") || /reverted|undo/i.test(String(ends(h)[0]?.content));
  assert.ok(isReported, JSON.stringify(ends(h)[0]));
});
