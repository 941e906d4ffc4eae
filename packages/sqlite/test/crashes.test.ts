import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";

const run = promisify(execFile);

describe("crashes", { concurrency: 3, timeout: 600_000 }, () => {
  for (const { position, written } of [
    { position: "before", written: 2 },
    { position: "inside", written: 2 },
    { position: "after", written: 4 },
  ]) {
    test(`a crash ${position} the transaction leaves all of the append or nothing of it`, async () => {
      await using place = new Place();
      const child = await place.child({}, { env: { CRASH_AT: `message_end:${position}:2` } });
      const blobs = [{ hash: "h", bytes: new Uint8Array(5000) }];
      const head = event("prompt_head", { blob: "h", key: "k", reason: "r" });
      await child.call("append", "t", [created(), says("first")], { afterSeq: 0, take: 0 });
      const crashing = child.call("append", "t", [head, says("second")], {
        afterSeq: 2,
        epoch: 1,
        release: true,
        blobs,
      });
      await assert.rejects(crashing, { message: "the child is dead" });
      const store = await place.store();
      assert.deepEqual(
        {
          events: (await store.read("t")).length,
          blob: (await store.blob("h"))?.length,
          lease: await store.lease("t"),
          found: (await store.threads({ query: "second" })).length,
        },
        written === 4
          ? { events: 4, blob: 5000, lease: { epoch: 1, status: "free" }, found: 1 }
          : { events: 2, blob: undefined, lease: { epoch: 1, status: "dead" }, found: 0 },
      );
      place.assertSound();
    });
  }

  for (const { position, seq } of [
    { position: "before", seq: 1 },
    { position: "inside", seq: 1 },
    { position: "after", seq: 2 },
  ]) {
    test(`a crash ${position} the transaction of a saved fold leaves the previous fold or the whole new one`, async () => {
      await using place = new Place();
      const child = await place.child({}, { env: { CRASH_AT: `fold_saved:${position}:2` } });
      await child.call("append", "t", [created(), says("said")], { afterSeq: 0, take: 0, release: true });
      const fold = (at: number) => ({ seq: at, fingerprint: "f", body: `${at}`.repeat(100_000) });
      await child.call("saveFold", "t", fold(1));
      await assert.rejects(child.call("saveFold", "t", fold(2)), { message: "the child is dead" });
      const store = await place.store();
      assert.deepEqual([await store.fold?.("t"), (await store.read("t")).length], [fold(seq), 2]);
      place.assertSound();
    });
  }

  test("a saved fold with any byte changed on disk is not returned", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const body = '{"state":1}';
    await store.saveFold?.("t", { seq: 1, fingerprint: "f", body });
    assert.equal((await store.fold?.("t"))?.body, body);
    for (let at = 0; at < body.length; at++) {
      const flipped = body.slice(0, at) + String.fromCharCode(body.charCodeAt(at) ^ 1) + body.slice(at + 1);
      place.query((db) => db.prepare("UPDATE folds SET body = ?").run(flipped));
      assert.equal(await store.fold?.("t"), undefined);
    }
  });

  for (const { position, isGone } of [
    { position: "before", isGone: false },
    { position: "inside", isGone: false },
    { position: "after", isGone: true },
  ]) {
    test(`a crash ${position} the transaction of a deletion leaves the thread and its subagents, or none of them`, async () => {
      await using place = new Place();
      const store = await place.store();
      const family = ["p", "p/c", "p/c/c"];
      for (const [at, id] of family.entries()) {
        const parent = at === 0 ? {} : { parent: { threadId: family[at - 1], seq: 1, toolCallId: "call" } };
        const first = event("thread_created", { title: id, resourceId: "me", ...parent });
        const head = event("prompt_head", { blob: id, key: "k", reason: "r" });
        const blobs = [{ hash: id, bytes: new Uint8Array(5000) }];
        await store.append(id, [first, head, says("zebra")], { afterSeq: 0, take: 0, blobs });
        await store.saveDraft(id, 1, [{ messageId: "m", index: 0, part: "text", text: "half a sen" }]);
      }
      const child = await place.child({}, { env: { CRASH_AT: `thread_deleted:${position}` } });
      await assert.rejects(child.call("deleteThread", "p"), { message: "the child is dead" });
      const left = await Promise.all(
        family.map(async (id) => ({
          isThere: (await store.thread(id)) !== undefined,
          blob: (await store.blob(id))?.length,
          draft: (await store.draft(id)).length,
          isHeld: await store.holds(id, 1),
        })),
      );
      const whole = { isThere: true, blob: 5000, draft: 1, isHeld: true };
      const nothing = { isThere: false, blob: undefined, draft: 0, isHeld: false };
      assert.deepEqual(left, Array(3).fill(isGone ? nothing : whole));
      assert.equal((await store.threads({ query: "zebra" })).length, isGone ? 0 : 3);
      place.assertSound();
    });
  }

  test("an append that fails in its middle leaves nothing either, without a crash", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const rewound = event("thread_rewound", { toSeq: 50, files: false, rules: [], grants: [] });
    const options = { afterSeq: 1, take: 0, release: true };
    const others = [store.append("a", [created()], { afterSeq: 0 }), store.append("b", [created()], { afterSeq: 0 })];
    await assert.rejects(store.append("t", [input("half"), rewound], options), { code: "INVALID_INPUT" });
    await Promise.all(others);
    assert.deepEqual([(await store.read("t")).length, await store.lease("t")], [1, { epoch: 0, status: "free" }]);
    assert.deepEqual((await store.threads()).map(({ id }) => id).toSorted(), ["a", "b", "t"]);
  });

  test("a crash at any moment loses no append that was answered, and leaves no gap", async () => {
    await using place = new Place();
    const store = await place.store();
    const threads = ["a", "b", "c", "d"];
    for (const id of threads) await store.append(id, [created()], { afterSeq: 0 });
    const child = await place.child();
    const answered = new Map(threads.map((id) => [id, 1]));
    const storm = threads.map(async (id) => {
      for (let afterSeq = 1; ; afterSeq++) {
        await child.call("append", id, [input(`${afterSeq}`)], { afterSeq });
        answered.set(id, afterSeq + 1);
      }
    });
    await pause(300);
    await child.kill();
    await Promise.allSettled(storm);
    for (const id of threads) {
      const events = await store.read(id);
      assert.ok(events.length >= answered.get(id)!, "an answered append is missing");
      assert.deepEqual(
        events.map(({ seq }) => seq),
        Array.from(events, (_, at) => at + 1),
      );
    }
    place.assertSound();
    const { seq } = (await store.read("a", { last: true, limit: 1 }))[0]!;
    assert.deepEqual(await store.append("a", [input("on")], { afterSeq: seq }), {
      kind: "appended",
      seq: seq + 1,
      epoch: 0,
      driven: false,
    });
  });

  // After a kill the kernel still has all writes, so only the system calls show what a power loss would lose.
  test("a crash of the machine loses no append that was answered: each was synced before its answer", async (t) => {
    await using place = new Place();
    try {
      await run("strace", ["-V"]);
    } catch {
      return t.skip("strace is not installed");
    }
    const trace = join(place.folder, "trace");
    const program = join(import.meta.dirname, "programs/appender.ts");
    const what = ["-f", "-y", "-o", trace, "-e", "trace=pwrite64,fdatasync,fsync,write"];
    await run("strace", [...what, process.execPath, "-C", "@cinch/source", program, place.path]);

    let unsynced = 0;
    let answers = 0;
    for (const line of readFileSync(trace, "utf8").split("\n")) {
      if (/pwrite64\(\d+<[^>]*cinch\.db-wal>/.test(line)) unsynced++;
      // strace prints a call that another thread interrupts twice. The second line is its end.
      if (/(fdatasync|fsync)(\(\d+<[^>]*cinch\.db-wal>\)| resumed>).* = 0/.test(line)) unsynced = 0;
      if (!line.includes("answered")) continue;
      answers++;
      assert.equal(unsynced, 0, `answer ${answers} came before its sync`);
    }
    assert.equal(answers, 20);
  });
});
