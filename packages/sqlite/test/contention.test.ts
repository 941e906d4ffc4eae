import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { created, input } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const run = promisify(execFile);

describe("contention", { concurrency: 3, timeout: 600_000 }, () => {
  test("an append waits for a lock of another program without blocking its process", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const unlock = place.lock();
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 5);
    const appends = [2, 3].map((at) => store.append("t", [input(`${at}`)], { afterSeq: at - 1 }));
    await until(() => ticks > 40, "time");
    assert.equal((await store.read("t")).length, 1);
    unlock();
    assert.deepEqual(await Promise.all(appends), [
      { kind: "appended", seq: 2, epoch: 0, driven: false },
      { kind: "appended", seq: 3, epoch: 0, driven: false },
    ]);
    clearInterval(ticking);
  });

  test("an append that waits too long for a lock fails with STORE_BUSY, and the store stays usable", async () => {
    await using place = new Place();
    const store = await place.store({ busyMs: 300 });
    await store.append("t", [created()], { afterSeq: 0 });
    const unlock = place.lock();
    await assert.rejects(store.append("t", [input("x")], { afterSeq: 1 }), { code: "STORE_BUSY" });
    unlock();
    assert.deepEqual(await store.append("t", [input("y")], { afterSeq: 1 }), {
      kind: "appended",
      seq: 2,
      epoch: 0,
      driven: false,
    });
  });

  test("a search does not wait for a lock of another program", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const unlock = place.lock();
    const append = store.append("t", [input("x")], { afterSeq: 1 });
    assert.equal((await store.threads({ query: "thread" })).length, 1);
    unlock();
    assert.equal((await append).kind, "appended");
  });

  test("a request that fails does not affect the others in its transaction", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const unlock = place.lock();
    const results = Promise.allSettled([
      store.append("none", [input("x")], { afterSeq: 0 }),
      store.append("t", [input("a")], { afterSeq: 1 }),
      store.append("t", [input("late")], { afterSeq: 1 }),
      store.append("t", [input("b")], { afterSeq: 2 }),
      store.append("t", [input("from nowhere")], { afterSeq: 9 }),
    ]);
    await pause(50);
    unlock();
    const kinds = (await results).map((one) => (one.status === "fulfilled" ? one.value.kind : one.reason.code));
    assert.deepEqual(kinds, ["THREAD_NOT_FOUND", "appended", "newer", "appended", "INVALID_INPUT"]);
    assert.equal((await store.read("t")).length, 3);
  });

  test("every request is answered, however the clock of the writer leaps between two looks at it", async () => {
    await using place = new Place();
    const clock = new URL("programs/leaping-clock.ts", import.meta.url).href;
    const child = await place.child({ busyMs: 1000 }, { env: { NODE_OPTIONS: `--import=${clock}` } });
    await child.call("append", "t", [created()], { afterSeq: 0 });
    const searches = Array.from({ length: 20 }, () => child.call("threads", { query: "thread" }));
    for (const found of await Promise.all(searches)) assert.equal(found.length, 1);
    const unlock = place.lock();
    const appends = Array.from({ length: 20 }, () => child.call("append", "t", [input("x")], { afterSeq: 1 }));
    for (const append of appends) await assert.rejects(append, { code: "STORE_BUSY" });
    unlock();
  });

  test("a full disk is STORE_FULL, and appends succeed again when there is space", async (t) => {
    await using place = new Place();
    const program = join(import.meta.dirname, "programs/full-disk.ts");
    const mount = 'mount -t tmpfs -o size=2m cinch "$1" && exec "$2" -C @cinch/source "$3" "$1"';
    const inNamespace = ["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", place.folder];
    try {
      await run("unshare", ["--user", "--map-root-user", "--mount", "true"]);
    } catch {
      return t.skip("no small disk can be mounted here (unshare is not permitted)");
    }
    const { stdout } = await run("unshare", [...inNamespace, process.execPath, program]);
    assert.deepEqual(JSON.parse(stdout), {
      failures: ["STORE_FULL"],
      keptAll: true,
      readable: true,
      wentOn: "appended",
      tooLargeForTheRest: ["STORE_FULL", "appended"],
      integrity: "ok",
    });
  });
});
