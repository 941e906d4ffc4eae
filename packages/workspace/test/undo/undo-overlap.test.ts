/** Commands of several threads at once: a change that may be another thread's is reverted only on request. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "@cinch/core";
import { createWorkspace, memoryBackend } from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";
import { desk, folder, outcomes, run, type Calls, type Folder } from "./desk.ts";

/** A folder outside the workspace, with whose files commands wait for each other. */
const wait = (signs: Folder, name: string) => `while [ ! -e '${signs.path}/${name}' ]; do sleep 0.02; done`;
const sign = (signs: Folder, name: string) => `touch '${signs.path}/${name}'`;
const appears = async (signs: Folder, name: string) => {
  for (let n = 0; !existsSync(join(signs.path, name)); n++) {
    if (n > 3_000) throw new Error(`${name} does not appear`);
    await sleep(20);
  }
};
const lines = (...commands: string[]): Calls => run(commands.join("\n"));
const inputOf = (...steps: Calls[]) => ({ content: JSON.stringify(steps) });

const files = { "a.txt": "a\n", "b.txt": "b\n" };

/** A second thread of the same harness. */
async function another(h: { createSession(): Promise<Session> }): Promise<Session> {
  const session = await h.createSession();
  await session.createThread({});
  return session;
}

test("the command that ends first does not claim the changes of another thread's command", async () => {
  using root = folder(files);
  using signs = folder();
  await using h = await desk({ root: root.path });
  const other = await another(h);
  const [seq, otherSeq] = [h.getDisplayState().seq, other.getDisplayState().seq];
  const first = h.turn(lines("echo of a > a.txt", sign(signs, "a"), wait(signs, "b")));
  await appears(signs, "a");
  const second = other.sendMessage(
    inputOf(
      lines("echo of b > b.txt", "echo new > b-new.txt", sign(signs, "b"), wait(signs, "end"), "echo late > late.txt"),
    ),
  );
  await first;
  const how = { toSeq: seq, files: true, conversation: false };
  const look = await h.rewind({ ...how, dryRun: true });
  const done = await h.rewind(how);
  assert.deepEqual(done, look);
  // A change before the other command began is its own.
  assert.deepEqual(outcomes(done.files), { "/a.txt": "restored", "/b-new.txt": "conflict", "/b.txt": "conflict" });
  assert.match(done.files.find(({ path }) => path === "/b.txt")?.detail ?? "", /command of another thread/);
  assert.deepEqual(root.all(), { "a.txt": "a\n", "b.txt": "of b\n", "b-new.txt": "new\n" });
  signs.put("end", "");
  await second;
  // Nor does the other thread know which change is its own, except for changes while it ran alone.
  const others = await other.rewind({ toSeq: otherSeq, files: true });
  assert.deepEqual(outcomes(others.files), {
    "/b-new.txt": "conflict",
    "/b.txt": "conflict",
    "/late.txt": "deleted",
  });
  // A caller may decide, even after the conversation was rewound.
  await other.rewind({ toSeq: otherSeq, files: true, overwrite: ["/b.txt", "/b-new.txt"] });
  assert.deepEqual(root.all(), files);
});

test("commands of two threads that follow one another are each thread's own", async () => {
  using root = folder(files);
  await using h = await desk({ root: root.path });
  const other = await another(h);
  const [seq, otherSeq] = [h.getDisplayState().seq, other.getDisplayState().seq];
  await h.turn(run("echo 1 > a.txt"));
  await other.sendMessage(inputOf(run("echo 2 > b.txt")));
  await h.turn(run("echo 3 > c.txt"));
  assert.deepEqual(outcomes((await h.rewind({ toSeq: seq, files: true })).files), {
    "/a.txt": "restored",
    "/c.txt": "deleted",
  });
  assert.deepEqual(outcomes((await other.rewind({ toSeq: otherSeq, files: true })).files), { "/b.txt": "restored" });
  assert.deepEqual(root.all(), files);
});

test("two commands of one thread at once are that thread's", async () => {
  using root = folder(files);
  using signs = folder();
  await using h = await desk({ root: root.path });
  const one = lines("echo 1 > a.txt", sign(signs, "one"), wait(signs, "two"));
  const two = lines("echo 2 > b.txt", sign(signs, "two"), wait(signs, "one"));
  const seq = await h.turn([...one, ...two]);
  await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(root.all(), files);
});

test("a command in the background of another thread counts too, until it ends", async () => {
  using root = folder(files);
  using signs = folder();
  await using h = await desk({ root: root.path });
  const other = await another(h);
  const command = `${wait(signs, "go")}; echo of b > b.txt; ${sign(signs, "b")}`;
  await other.sendMessage(inputOf([["execute", { command, background: true }]]));
  const seq = await h.turn(lines(sign(signs, "go"), wait(signs, "b")));
  assert.deepEqual(outcomes((await h.rewind({ toSeq: seq, files: true })).files), { "/b.txt": "conflict" });
  assert.equal(root.text("b.txt"), "of b\n");
  for (let n = 0; n < 500; n++) {
    const again = await h.turn(run("echo 1 > a.txt"));
    const { files: done } = await h.rewind({ toSeq: again, files: true, overwrite: true, dryRun: true });
    const { files: plain } = await h.rewind({ toSeq: again, files: true });
    assert.equal(done.find(({ path }) => path === "/a.txt")?.outcome, "restored");
    if (plain.find(({ path }) => path === "/a.txt")?.outcome === "restored") return;
    root.put("a.txt", "a\n");
  }
  assert.fail("the command in the background is over, and still counts");
});

test("two harnesses on one folder in one process know of each other's commands", async () => {
  using root = folder({ ...files, "in/c.txt": "c\n" });
  using signs = folder();
  await using one = await desk({ root: root.path });
  await using two = await desk({ root: join(root.path, "in") });
  const { seq } = one.getDisplayState();
  const first = one.turn(lines("echo of a > a.txt", sign(signs, "a"), wait(signs, "c")));
  await appears(signs, "a");
  const second = two.turn(lines("echo of two > c.txt", sign(signs, "c"), wait(signs, "end")));
  await first;
  const { files: done } = await one.rewind({ toSeq: seq, files: true });
  assert.equal(outcomes(done)["/in/c.txt"], "conflict");
  assert.equal(root.text("in/c.txt"), "of two\n");
  signs.put("end", "");
  await second;
});

test("two processes on one folder know each other's commands, even ended ones", async () => {
  using root = folder(files);
  using signs = folder();
  using cache = folder();
  await using h = await desk({ root: root.path });
  const { seq } = h.getDisplayState();
  const running = h.turn(lines(sign(signs, "a"), wait(signs, "end"), "echo of a > a.txt"));
  await appears(signs, "a");
  const child = fork(
    new URL("./undo-overlap-process.ts", import.meta.url),
    [root.path, cache.path, "echo of another > b.txt"],
    { execArgv: ["-C", "@cinch/source"] },
  );
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 0);
  signs.put("end", "");
  await running;
  const { files: done } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual(outcomes(done), { "/a.txt": "conflict", "/b.txt": "conflict" });
  assert.equal(root.text("b.txt"), "of another\n");
  // No record is left afterwards.
  const again = await h.turn(run("echo x > c.txt"));
  assert.deepEqual(outcomes((await h.rewind({ toSeq: again, files: true })).files), { "/c.txt": "deleted" });
});

test("a command on files that are not on this machine overlaps with no command on a folder", async () => {
  using root = folder(files);
  using signs = folder();
  await using h = await desk({ root: root.path });
  const backend = memoryBackend();
  const workspace = createWorkspace({ backend, shell: virtualShell({ backend }) });
  await using virtual = await desk({ root: root.path, workspace });
  const seq = h.getDisplayState().seq;
  const running = h.turn(lines(sign(signs, "a"), wait(signs, "end"), "echo of a > a.txt"));
  await appears(signs, "a");
  await virtual.turn(run("echo x > a.txt"));
  signs.put("end", "");
  await running;
  assert.deepEqual(outcomes((await h.rewind({ toSeq: seq, files: true })).files), { "/a.txt": "restored" });
});
