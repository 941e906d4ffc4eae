import assert from "node:assert/strict";
import type { DurableEvent } from "@cinch/core";
import { type StoreCheck, agentEnd, created, event, eventually, input, make, piece, says } from "./samples.ts";

export function drafting(check: StoreCheck): void {
  check(
    "a draft grows by pieces until its message ends, the turn ends, or the lease is taken",
    async (store, another) => {
      const other = await another();
      await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
      let seq = 2;
      let epoch = 1;
      const grow = async () => {
        await store.saveDraft("t", epoch, [piece("a"), piece("b")]);
        await store.saveDraft("t", epoch, [piece("c")]);
        await store.append("t", [input("leaves it alone")], { afterSeq: seq++ });
        assert.deepEqual(await other.draft("t"), [piece("a"), piece("b"), piece("c")]);
      };
      await grow();
      await store.append("t", [says("abc")], { afterSeq: seq++, epoch });
      assert.deepEqual(await other.draft("t"), []);
      await grow();
      await store.append("t", [agentEnd()], { afterSeq: seq++, epoch });
      assert.deepEqual(await other.draft("t"), []);
      await grow();
      await store.release("t", epoch);
      await store.append("t", [event("agent_start")], { afterSeq: seq++, take: epoch++ });
      assert.deepEqual(await other.draft("t"), []);
    },
  );

  check("the draft of a stale driver is ignored", async (store, another) => {
    const other = await another();
    await store.append("t", [created()], { afterSeq: 0, take: 0 });
    await store.release("t", 1);
    await other.append("t", [], { afterSeq: 1, take: 1 });
    await other.saveDraft("t", 2, [piece("new")]);
    await store.saveDraft("t", 1, [piece("stale")]);
    await store.saveDraft("t", 2, [piece("not mine")]);
    assert.deepEqual(await store.draft("t"), [piece("new")]);
  });
}

export function following(check: StoreCheck): void {
  check(
    "followers are notified of appends and the deletion by any process, of drafts of others, and of nothing else",
    async (store, another) => {
      const other = await another();
      await store.append("t", [created()], { afterSeq: 0, take: 0 });
      await make(store, "quiet");
      const count = { here: 0, withoutSeq: 0, there: 0, elsewhere: 0 };
      store.follow("t", (seq) => {
        count.here++;
        if (seq === undefined) count.withoutSeq++;
      });
      other.follow("t", () => count.there++);
      other.follow("quiet", () => count.elsewhere++);
      const notifies = async (what: string, change: () => Promise<unknown>) => {
        const { here, there } = { ...count };
        await change();
        await eventually(() => count.here > here && count.there > there, `the notification of ${what}`);
      };
      await notifies("a command", () => other.append("t", [input("x")], { afterSeq: 1 }));
      await notifies("a driver's event", () => store.append("t", [says("y")], { afterSeq: 2, epoch: 1 }));
      const before = { ...count };
      await store.saveDraft("t", 1, [piece("z")]);
      await eventually(() => count.there > before.there, "the notification of a draft");
      assert.equal(
        count.withoutSeq,
        before.withoutSeq,
        "a store object that saves drafts would read its journal again after each",
      );
      await notifies("a deletion", () => other.deleteThread("t"));
      assert.equal(count.elsewhere, 0);
    },
  );

  check("a follower that stopped is not notified, and the others still are", async (store) => {
    await make(store, "t");
    let stopped = 0;
    let going = 0;
    const same = () => going++;
    const stop = store.follow("t", () => stopped++);
    const stopTwin = store.follow("t", same);
    store.follow("t", same);
    stop();
    stop();
    stopTwin();
    await store.append("t", [input("x")], { afterSeq: 1 });
    await eventually(() => going > 0, "a notification");
    assert.equal(stopped, 0);
  });

  check("a thread can be followed before it is created", async (store, another) => {
    const other = await another();
    let count = 0;
    store.follow("t", () => count++);
    await make(other, "t");
    await eventually(() => count > 0, "a notification");
  });

  check("followers are called back when the lease is released, and when its holder closes", async (store, another) => {
    const other = await another();
    for (const id of ["released", "closed"]) await other.append(id, [created()], { afterSeq: 0, take: 0 });
    const free = new Set<string>();
    const look = async (id: string) => {
      if ((await store.lease(id)).status === "free") free.add(id);
    };
    // A last call may come just before the end of the test, which closes the store.
    for (const id of ["released", "closed"]) store.follow(id, () => void look(id).catch(() => undefined));
    await other.release("released", 1);
    await eventually(() => free.has("released"), "the call after the release");
    await other.close();
    await eventually(() => free.has("closed"), "the call after the close");
  });

  check("events that come with a call are those that the journal has up to its seq", async (store, another) => {
    const other = await another();
    await other.append("t", [created()], { afterSeq: 0, take: 0 });
    const calls: { seq?: number | undefined; events: readonly DurableEvent[] }[] = [];
    store.follow("t", (seq, events) => events && calls.push({ seq, events }));
    let reached = 0;
    store.follow("t", async (seq) => {
      const last = seq ?? (await store.read("t")).at(-1)!.seq;
      reached = Math.max(reached, last);
    });
    for (let at = 1; at <= 20; at += 2) {
      await other.append("t", [input(`a ${at}`), says(`b ${at}`)], { afterSeq: at, epoch: 1 });
      await eventually(() => reached >= at + 2, "the call");
    }
    const journal = await store.read("t");
    for (const { seq, events } of calls) {
      const first = events[0]?.seq ?? 0;
      assert.deepEqual(events, journal.slice(first - 1, seq));
    }
  });
}
