import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bestOfThree } from "../../testkit/test/best-of-three.ts";
import { created, event, input } from "./events.ts";
import { Place } from "./place.ts";
import { Proxy } from "./proxy.ts";

/** A store whose connections are all in use, or were a moment ago. */
async function connected() {
  const place = await Place.make();
  const proxy = await Proxy.to(place.url);
  const store = await place.store({ url: proxy.url });
  await store.append("t", [created(), input("x"), event("agent_start")], { afterSeq: 0, take: 0, awake: true });
  await place.query("UPDATE cinch.heads SET holder = NULL");
  await Promise.all(Array.from({ length: 8 }, () => store.read("t")));
  await store.saveFold!("t", { seq: 3, fingerprint: "f", body: "{}" });
  const dispose = async () => {
    proxy.thaw();
    await place[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
  return { store, proxy, [Symbol.asyncDispose]: dispose };
}

type Connected = Awaited<ReturnType<typeof connected>>;

/** Shorter than what was waited for one connection before. */
const SOON_MS = 9_000;

/** Loses the connections of a store, and passes when the work then takes less than `SOON_MS`. */
const soonAfterLoss = (work: (store: Connected["store"]) => Promise<unknown>) =>
  bestOfThree(SOON_MS, async () => {
    await using at = await connected();
    at.proxy.forget();
    const since = performance.now();
    await work(at.store);
    return performance.now() - since;
  });

// As after a router on the way has forgotten them, or the server's address has moved.
describe("connections that are lost without a word", { concurrency: 3 }, () => {
  test("a worker finds the thread that has no driver, and continues it", () =>
    soonAfterLoss(async (store) => {
      const stranded = await store.stranded({ limit: 10, freeMs: 0 });
      assert.deepEqual(
        stranded.map(({ threadId }) => threadId),
        ["t"],
      );
      // None of the other connections that have not answered meanwhile is tried.
      assert.equal((await store.lease("t")).status, "free");
      assert.equal((await store.read("t")).length, 3);
      const taken = await store.append("t", [event("agent_start")], { afterSeq: 3, take: 1 });
      assert.equal(taken.kind, "appended");
      assert.equal((await store.fold!("t"))?.seq, 3);
    }));

  test("a look and a small write are soon asked for again", () => {
    const piece = { messageId: "m", index: 0, part: "text", text: "…" } as const;
    return soonAfterLoss((store) =>
      Promise.all([store.load(), store.thread("t"), store.holds("t", 1), store.saveDraft("t", 1, [piece])]),
    );
  });

  test("a read of events is asked for again", async () => {
    await using at = await connected();
    const { store, proxy } = at;
    proxy.forget();
    assert.equal((await store.read("t")).length, 3);
  });
});

// Timers count in whole milliseconds, and may be a little early by the clock that is more exact.
test("connections that are lost with a silent one are replaced, also if its timer was early by the clock", async (context) => {
  const clock = performance.now.bind(performance);
  const since = clock();
  context.mock.method(performance, "now", () => since + (clock() - since) * 0.9);
  await soonAfterLoss(async (store) => {
    assert.equal((await store.lease("t")).status, "free");
    await store.append("t", [event("agent_start")], { afterSeq: 3, take: 1 });
  });
});
