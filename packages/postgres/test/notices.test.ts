import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Store, ThreadListChange } from "@cinch/core";
import { Outbox, noticesIn } from "../src/change-notice.ts";
import { created, event, input } from "./events.ts";
import { Place } from "./place.ts";
import { Proxy } from "./proxy.ts";
import { until } from "./until.ts";
import { warned } from "./warned.ts";

/** A store whose direct connection leads through a proxy, and another one. */
async function withProxy({ isMute }: { isMute: boolean }) {
  const place = await Place.make();
  const proxy = await Proxy.to(place.url);
  proxy.isMute = isMute;
  const store = await place.store({ directUrl: proxy.url });
  const other = await place.store();
  const dispose = async () => {
    await place[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
  return { proxy, store, other, [Symbol.asyncDispose]: dispose };
}

describe("notices", { concurrency: 4 }, () => {
  test("where no notice arrives, as through a pooler, changes are asked for, and a warning says so", async () => {
    const warning = warned(/give a directUrl/);
    await using at = await withProxy({ isMute: true });
    const { store, other } = at;
    let last = 0;
    let others = 0;
    store.follow("t", (seq) => {
      if (seq === undefined) others += 1;
      else last = seq;
    });
    await store.read("t").catch(() => undefined);
    await other.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    await until("the callback for an append", () => last === 2);
    await other.saveDraft("t", 1, [{ messageId: "m", index: 0, part: "text", text: "…" }]);
    await until("the callback for a draft", () => others > 0);
    assert.equal((await warning).code, "CINCH_NO_NOTICES");
  });

  test("a notice that is lost is made up for within seconds, for threads and for lists", async () => {
    await using at = await withProxy({ isMute: false });
    const { store, other, proxy } = at;
    await other.append("t", [created()], { afterSeq: 0 });
    let last = 0;
    store.follow("t", (seq = 0) => (last = seq));
    const list = store.followThreads("me");
    const got: ThreadListChange[] = [];
    const reading = (async () => {
      for await (const change of list) got.push(change);
    })();
    await store.read("t");
    await other.append("t", [input("heard")], { afterSeq: 1 });
    await until("the notice", () => last === 2);
    proxy.isMute = true;
    await other.append("t", [input("lost")], { afterSeq: 2 });
    await other.append("u", [created()], { afterSeq: 0 });
    await other.deleteThread("u");
    await other.append("v", [created({ title: "v" })], { afterSeq: 0 });
    await until("the callback", () => last === 3);
    await until("the new thread in the list", () =>
      got.some((change) => "thread" in change && change.thread.id === "v"),
    );
    await list.return!();
    await reading;
  });
});

/** Occurs in the query that reads the states of all followed threads. */
const STATES = "h.last_seq AS seq";

/** A store whose queries lead through a proxy, and whose notices do not, with a thread of one event; and another store. */
async function withSlowReadings() {
  const place = await Place.make();
  const proxy = await Proxy.to(place.url);
  const store = await place.store({ url: proxy.url, directUrl: place.url });
  const other = await place.store();
  for (const id of ["t", "beside"]) await other.append(id, [created()], { afterSeq: 0 });
  const dispose = async () => {
    await place[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
  return { proxy, store, other, [Symbol.asyncDispose]: dispose };
}

/** How far the journal reaches, as the follower knows. After a call without a `seq` it would read everything. */
function follow(store: Store, threadId: string): () => number {
  let last = 0;
  store.follow(threadId, (seq = Infinity) => (last = Math.max(last, seq)));
  return () => last;
}

// The query that makes up for lost notices is held back too, so that only the notice can be the reason of a call.
describe("a notice that comes before a followed thread was read", { concurrency: 3 }, () => {
  test("is passed on when the reading turns out to be older", async () => {
    await using at = await withSlowReadings();
    const { store, other, proxy } = at;
    const besideReached = follow(store, "beside");
    await store.read("beside");
    using reading = proxy.hold(STATES);
    const reached = follow(store, "t");
    await reading.answered;
    await other.append("t", [input("meanwhile")], { afterSeq: 1 });
    // Notices arrive in order.
    await other.append("beside", [input("x")], { afterSeq: 1 });
    await until("the notice of the second append", () => besideReached() >= 2);
    reading.release();
    await until("the callback", () => reached() >= 2);
  });

  test("is passed on at once when the reading takes so long that the follower did not wait for it", async () => {
    await using at = await withSlowReadings();
    const { store, other, proxy } = at;
    using _ = proxy.hold(STATES);
    const reached = follow(store, "t");
    assert.equal((await store.read("t")).length, 1);
    await other.append("t", [input("later")], { afterSeq: 1 });
    await until("the callback", () => reached() >= 2);
  });

  test("is passed on at once when the reading has failed", async () => {
    await using at = await withSlowReadings();
    const { store, other, proxy } = at;
    proxy.cutNext("before", STATES);
    const reached = follow(store, "t");
    assert.equal((await store.read("t")).length, 1);
    using _ = proxy.hold(STATES);
    assert.equal(proxy.cuts, 1);
    await other.append("t", [input("later")], { afterSeq: 1 });
    await until("the callback", () => reached() >= 2);
  });
});

describe("a direct connection that falls silent", { concurrency: 2 }, () => {
  test("is replaced by a process that only follows", async () => {
    await using at = await withProxy({ isMute: false });
    const { store, other, proxy } = at;
    await other.append("t", [created()], { afterSeq: 0 });
    let last = 0;
    store.follow("t", (seq = 0) => (last = seq));
    await store.read("t");
    proxy.forget();
    for (let seq = 1; proxy.connections === 1; seq++) {
      await other.append("t", [input("x")], { afterSeq: seq });
      await until("the callback", () => last === seq + 1);
    }
  });

  test("is replaced by a process that only appends", async () => {
    await using at = await withProxy({ isMute: false });
    const { store, proxy } = at;
    await until("the connection", () => proxy.connections === 1);
    proxy.forget();
    await store.append("t", [created()], { afterSeq: 0 });
    await until("another connection", () => proxy.connections === 2);
  });
});

test("notices are merged by thread, split at the limit of the server, and unknown ones ignored", () => {
  const outbox = new Outbox();
  for (let seq = 1; seq <= 10; seq++) outbox.add({ kind: "appended", key: 7, seq });
  outbox.add({ kind: "changed", key: 7 });
  outbox.add({ kind: "listed", no: 3 });
  const [payload = ""] = outbox.take(42);
  assert.deepEqual(noticesIn(`${payload} zfuture`), {
    sender: 42,
    notices: [
      { kind: "appended", key: 7, seq: 10 },
      { kind: "changed", key: 7 },
      { kind: "listed", no: 3 },
    ],
  });
  for (let key = 0; key < 5_000; key++) outbox.add({ kind: "appended", key: 2 ** 32 - key, seq: 2 ** 31 });
  const payloads = outbox.take(1);
  assert.ok(payloads.length > 1 && payloads.every((one) => one.length < 8_000));
  assert.equal(payloads.flatMap((one) => noticesIn(one).notices).length, 5_000);
  assert.ok(outbox.isEmpty);
});

/** Two ids with the same CRC-32. */
const SAME_CHECKSUM = ["t928096", "t11200040"] as const;

test("a follower is not misled by the appends of a thread whose id has the same checksum", async () => {
  await using place = await Place.make();
  const [store, other] = [await place.store(), await place.store()];
  const [followed, longer] = SAME_CHECKSUM;
  for (const id of SAME_CHECKSUM) await other.append(id, [created()], { afterSeq: 0 });
  let last = 0;
  store.follow(followed, (seq = 0) => (last = seq));
  await store.read(followed);
  await other.append(longer, [input("a"), input("b"), input("c")], { afterSeq: 1 });
  await pause(1_500);
  await other.append(followed, [input("x")], { afterSeq: 1 });
  await until("the callback", () => last === 2);
});
