import assert from "node:assert/strict";
import { type Check, agentEnd, created, event, eventually, input, make, piece, says } from "./sample.ts";

export function drafting(check: Check): void {
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

  check("a stale driver's draft is dropped without a word", async (store, another) => {
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

export function following(check: Check): void {
  check(
    "followers hear of appends, drafts and the deletion, whoever made them, and of nothing else",
    async (store, another) => {
      const other = await another();
      await store.append("t", [created()], { afterSeq: 0, take: 0 });
      await make(store, "quiet");
      const heard = { here: 0, there: 0, elsewhere: 0 };
      store.follow("t", () => heard.here++);
      other.follow("t", () => heard.there++);
      other.follow("quiet", () => heard.elsewhere++);
      const expect = async (what: string, change: () => Promise<unknown>) => {
        const { here, there } = { ...heard };
        await change();
        await eventually(() => heard.here > here && heard.there > there, what);
      };
      await expect("news of a command", () => other.append("t", [input("x")], { afterSeq: 1 }));
      await expect("news of a driver's event", () => store.append("t", [says("y")], { afterSeq: 2, epoch: 1 }));
      await expect("news of the draft", () => store.saveDraft("t", 1, [piece("z")]));
      await expect("news of the deletion", () => other.deleteThread("t"));
      assert.equal(heard.elsewhere, 0);
    },
  );

  check("who stopped following hears no more, and the others still do", async (store) => {
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
    await eventually(() => going > 0, "news");
    assert.equal(stopped, 0);
  });

  check("a thread can be followed before it is made", async (store, another) => {
    const other = await another();
    let heard = 0;
    store.follow("t", () => heard++);
    await make(other, "t");
    await eventually(() => heard > 0, "news");
  });
}
