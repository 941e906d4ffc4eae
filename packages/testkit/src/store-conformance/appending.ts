import assert from "node:assert/strict";
import { type StoreCheck, clone, code, created, ids, input, kinds, make, texts } from "./samples.ts";

export function appending(check: StoreCheck): void {
  check("appended events are read back with their seq and thread", async (store) => {
    const events = [created({ metadata: { repo: "x" } }), input("hello")];
    assert.deepEqual(await store.append("t", events, { afterSeq: 0 }), {
      kind: "appended",
      seq: 2,
      epoch: 0,
      driven: false,
    });
    const read = await store.read("t");
    assert.deepEqual(
      read,
      events.map((one, at) => ({ ...one, seq: at + 1, threadId: "t" })),
    );
    assert.deepEqual(await store.thread("t"), {
      id: "t",
      title: "A thread",
      resourceId: "me",
      parentId: null,
      createdAt: events[0]!.at,
      updatedAt: events[1]!.at,
      active: false,
      metadata: { repo: "x" },
    });
  });

  check("an append that is behind gets the newer events and writes nothing", async (store) => {
    await make(store, "t", input("one"), input("two"));
    const result = await store.append("t", [input("three")], { afterSeq: 1 });
    assert.deepEqual(result, { kind: "newer", events: (await store.read("t")).slice(1) });
    assert.deepEqual(await texts(store, "t"), ["one", "two"]);
  });

  check("of twenty appends after the same seq exactly one is written", async (store, another) => {
    await make(store, "t");
    const stores = [store, await another()];
    const appends = Array.from({ length: 20 }, (_, at) =>
      stores[at % 2]!.append("t", [input(`${at}`)], { afterSeq: 1 }),
    );
    const results = await Promise.all(appends);
    assert.deepEqual(kinds(results), ["appended", ...Array<string>(19).fill("newer")]);
    const [written] = results.flatMap((result, at) => (result.kind === "appended" ? [`${at}`] : []));
    assert.deepEqual(await texts(store, "t"), [written]);
  });

  check("concurrent appends to different threads are all written", async (store) => {
    const threads = Array.from({ length: 30 }, (_, at) => `t${at}`);
    await Promise.all(threads.map((id) => store.append(id, [created(), input(id)], { afterSeq: 0 })));
    for (const id of threads) assert.deepEqual(await texts(store, id), [id]);
  });

  check("creating a thread that exists returns its events", async (store) => {
    await make(store, "t", input("mine"));
    const result = await store.append("t", [created({ title: "Another" })], { afterSeq: 0 });
    assert.deepEqual(result, { kind: "newer", events: await store.read("t") });
    await make(store, "longer", input("a"), input("b"), input("c"));
    assert.deepEqual(await clone(store, "t", { parent: "longer", seq: 4 }), result);
  });

  check("a thread that does not exist cannot be written, read, leased or deleted", async (store) => {
    await assert.rejects(store.append("none", [input("x")], { afterSeq: 0 }), code("THREAD_NOT_FOUND"));
    await assert.rejects(store.read("none"), code("THREAD_NOT_FOUND"));
    await assert.rejects(store.lease("none"), code("THREAD_NOT_FOUND"));
    await assert.rejects(store.deleteThread("none"), code("THREAD_NOT_FOUND"));
    await assert.rejects(clone(store, "c", { parent: "none", seq: 1 }), code("THREAD_NOT_FOUND"));
    await store.release("none", 1);
    await store.saveDraft("none", 1, []);
    assert.deepEqual(
      [await store.thread("none"), await store.thread("c"), await store.holds("none", 0), await store.draft("none")],
      [undefined, undefined, false, []],
    );
  });

  check("any text is stored unchanged, in contents and in ids", async (store) => {
    const text = `\u0000 "quotes' \\ \u2028 \ud800 lone 🧵 ${"x".repeat(300_000)}`;
    const hostile = [
      "__proto__",
      "' OR 1=1 --",
      "a\u0000b",
      "a\u0000c",
      "%",
      "_",
      "🧵",
      "../../etc",
      "x".repeat(900),
      " ",
    ];
    for (const id of hostile) await make(store, id, input(id + text));
    for (const id of hostile) {
      assert.deepEqual(await texts(store, id), [id + text]);
      assert.equal((await store.thread(id))?.id, id);
    }
    assert.deepEqual(await ids(store), hostile.toReversed());
  });

  check("a closed store rejects every call with CLOSED", async (store) => {
    await make(store, "t");
    await store.close();
    await assert.rejects(store.append("t", [input("x")], { afterSeq: 1 }), code("CLOSED"));
    await assert.rejects(store.read("t"), code("CLOSED"));
  });
}
