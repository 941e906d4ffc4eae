import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { bestOfThree } from "../../testkit/test/best-of-three.ts";
import { created, input } from "./events.ts";
import { blocked, cancelBlocked, withProxy } from "./lossy-place.ts";
import { until } from "./until.ts";

const contents = (events: readonly object[]) => events.flatMap((one) => ("content" in one ? [one.content] : []));

describe("commands that wait", { concurrency: 2 }, () => {
  test("a command that was not sent fails after ten seconds, while others that were sent wait", () =>
    bestOfThree(22_000, async () => {
      await using at = await withProxy();
      const { store, place } = at;
      for (const id of ["a", "b", "c", "d"]) await store.append(id, [created()], { afterSeq: 0 });
      // The server accepts appends, and commits none.
      const unlock = await place.lock("heads");
      const sent: Promise<{ kind: string }>[] = [];
      for (const id of ["a", "b"]) {
        const before = await blocked(place, "append_many");
        sent.push(store.append(id, [input("sent")], { afterSeq: 1 }));
        const isNew = (pid: number) => !before.includes(pid);
        await until("the lock", async () => (await blocked(place, "append_many")).some(isNew));
      }
      // Those that were sent are now under way for longer than this one waits.
      await pause(1_000);
      const since = performance.now();
      const busy = { code: "STORE_BUSY", message: /does not answer .*try again/ };
      const early = assert.rejects(store.append("c", [input("not sent")], { afterSeq: 1 }), busy);
      await pause(2_000);
      await Promise.all([early, assert.rejects(store.append("d", [input("not sent")], { afterSeq: 1 }), busy)]);
      const waited = performance.now() - since;
      assert.ok(waited > 11_500, `${waited} ms for the second one`);
      await unlock();
      for (const { kind } of await Promise.all(sent)) assert.equal(kind, "appended");
      for (const id of ["a", "b"]) assert.deepEqual(contents(await store.read(id)), ["sent"]);
      for (const id of ["c", "d"]) assert.deepEqual(contents(await store.read(id)), []);
      return waited;
    }));

  test("a command that was sent only in a batch that failed after ten seconds fails with the batch", () =>
    bestOfThree(16_000, async () => {
      await using at = await withProxy();
      const { store, place } = at;
      for (const id of ["a", "b", "c", "d"]) await store.append(id, [created()], { afterSeq: 0 });
      const unlock = await place.lock("heads");
      const early: Promise<unknown>[] = [];
      for (const id of ["a", "b"]) {
        const append = store.append(id, [input("early")], { afterSeq: 1 });
        early.push(assert.rejects(append, { message: /cancelled a query/ }));
        await until("its lane", async () => (await blocked(place, "append_many")).length === early.length);
      }
      const since = performance.now();
      const [first, second] = ["c", "d"].map((id) => store.append(id, [input("late")], { afterSeq: 1 }));
      const outcomes = [first!, second!].map((one) => assert.rejects(one, { code: "STORE_BUSY" }));
      await pause(2_000);
      await cancelBlocked(place, "append_many");
      await Promise.all(early);
      await pause(8_500);
      await cancelBlocked(place, "append_many");
      // The first of them would now be sent alone.
      await outcomes[1];
      const waited = performance.now() - since;
      await unlock();
      await outcomes[0];
      for (const id of ["c", "d"]) assert.deepEqual(contents(await store.read(id)), []);
      return waited;
    }));
});
