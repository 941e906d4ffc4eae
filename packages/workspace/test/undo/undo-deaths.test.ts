import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { MemoryData } from "@cinch/core/store";
import { memoryStore } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { localWorkspace } from "@cinch/workspace";
import { DyingStore, type Moment } from "../../../core/test/dying-store.ts";
import { isWhole } from "../../../testkit/test/share.ts";
import { desk, edit, folder, read, remove, run, write, type Calls } from "./desk.ts";

const before = { "a.txt": "a\n", "b/c.txt": "c\n", "d.txt": "d\n" };
const work: Calls[] = [
  read("a.txt"),
  edit("a.txt", "a", "A"),
  run("echo more >> b/c.txt; echo new > e.txt"),
  remove("d.txt"),
  write("f/g.txt", "g\n"),
];

const cacheOf = () => {
  const path = mkdtempSync(join(tmpdir(), "cinch-undo-cache-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 9 }) };
};

/** `npm test` tries every third moment: one before the effect of a call, then one after that of another. */
const STEP = isWhole ? 1 : 3;

/** The moments at which a process that does this can die: before and after each call of the store. Returns how many there are. */
async function everyMoment(dies: (moment: Moment) => Promise<boolean>): Promise<number> {
  for (let moments = 0; ; moments += STEP) {
    const died = await dies({ nth: 1 + Math.floor(moments / 2), place: moments % 2 === 0 ? "before" : "after" });
    if (!died) return moments;
  }
}

test("a rewind that dies at any moment did not happen, or the next process finishes it", async () => {
  const moments = await everyMoment(async (moment) => {
    using root = folder(before);
    using cache = cacheOf();
    const workspace = () => localWorkspace({ root: root.path, sandbox: "none", cache: cache.path });
    const data = new MemoryData();
    const store = new DyingStore(data);
    const first = await desk({ root: root.path, storage: store, workspace: workspace() });
    const seq = await first.turn(...work);
    const done = root.all();
    const { messages } = first.getDisplayState();
    store.dieAt(moment);
    await first.rewind({ toSeq: seq, files: true }).catch(() => undefined);
    const died = store.isDead;
    await first.close().catch(() => undefined);
    await using next = await desk({ root: root.path, storage: memoryStore(data), workspace: workspace() });
    const isRewound = next.getDisplayState().messages.length < messages.length;
    const expected = isRewound ? before : done;
    for (let waited = 0; !isDeepStrictEqual(root.all(), expected) && waited < 3_000; waited++) await sleep(20);
    assert.deepEqual(root.all(), expected, JSON.stringify(moment));
    await next.rewind({ toSeq: seq, files: true });
    assert.deepEqual(root.all(), before, JSON.stringify(moment));
    return died;
  });
  assert.ok(moments > 10, `${moments} moments`);
});

test("a turn that dies at any moment can be reverted, with all changes of files that it made until then", async () => {
  const moments = await everyMoment(async (moment) => {
    using root = folder(before);
    using cache = cacheOf();
    const workspace = () => localWorkspace({ root: root.path, sandbox: "none", cache: cache.path });
    const data = new MemoryData();
    const store = new DyingStore(data);
    const first = await desk({ root: root.path, storage: store, workspace: workspace() });
    const { seq } = first.getDisplayState();
    store.dieAt(moment);
    const over = first.turn(...work).catch(() => undefined);
    while (!store.isDead && (await Promise.race([over.then(() => true), sleep(5, false)])) === false);
    const died = store.isDead;
    await first.close().catch(() => undefined);
    await over;
    await using next = await desk({ root: root.path, storage: memoryStore(data), workspace: workspace() });
    const { files } = await next.rewind({ toSeq: seq, files: true });
    assert.deepEqual(root.all(), before, JSON.stringify({ moment, files }));
    return died;
  });
  assert.ok(moments > 20, `${moments} moments`);
});

test("the changes of a command that was killed with its harness can be reverted by the next one", async () => {
  using root = folder(before);
  using cache = cacheOf();
  const database = join(cache.path, "store.db");
  const child = fork(new URL("./undo-process.ts", import.meta.url), [root.path, cache.path, database], {
    execArgv: ["-C", "@cinch/source"],
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  while (!existsSync(join(root.path, "started"))) await sleep(20);
  child.kill("SIGKILL");
  await gone;
  const workspace = localWorkspace({ root: root.path, sandbox: "none", cache: cache.path });
  await using h = await desk({ root: root.path, storage: sqliteStore({ path: database }), workspace });
  const [message] = await h.listMessages();
  const { files } = await h.rewind({ toSeq: message!.seq - 1, files: true });
  assert.deepEqual(files.map(({ path, outcome }) => `${path} ${outcome}`).toSorted(), [
    "/a.txt restored",
    "/d.txt restored",
    "/new.txt deleted",
    "/started deleted",
  ]);
  assert.deepEqual(root.all(), before);
});
