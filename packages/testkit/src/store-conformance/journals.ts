import assert from "node:assert/strict";
import { type StoreCheck, clone, event, input, make, rewind, seqs, texts } from "./samples.ts";

export function readingJournals(check: StoreCheck): void {
  check("a range is read from either end", async (store) => {
    await make(store, "t", ...Array.from({ length: 9 }, (_, at) => input(`${at}`)));
    const read = async (range: object) => (await store.read("t", range)).map(({ seq }) => seq);
    assert.deepEqual(await read({ after: 7 }), [8, 9, 10]);
    assert.deepEqual(await read({ upTo: 2 }), [1, 2]);
    assert.deepEqual(await read({ after: 2, upTo: 5 }), [3, 4, 5]);
    assert.deepEqual(await read({ after: 2, limit: 2 }), [3, 4]);
    assert.deepEqual(await read({ limit: 2, last: true }), [9, 10]);
    assert.deepEqual(await read({ upTo: 5, limit: 2, last: true }), [4, 5]);
    assert.deepEqual(await read({ after: 4, upTo: 5, limit: 9, last: true }), [5]);
    assert.deepEqual([await read({ after: 10 }), await read({ after: 50 }), await read({ limit: 0 })], [[], [], []]);
  });

  check("a long thread is read completely and in order, from either end", async (store) => {
    const length = 2500;
    await make(store, "t", ...Array.from({ length: length - 1 }, (_, at) => input(`${at}`)));
    const all = Array.from({ length }, (_, at) => at + 1);
    assert.deepEqual(await seqs(store, "t"), all);
    const last = await store.read("t", { last: true, limit: 1500 });
    assert.deepEqual(
      last.map(({ seq }) => seq),
      all.slice(-1500),
    );
    const result = await store.append("t", [input("x")], { afterSeq: 0 });
    assert.equal(result.kind === "newer" && result.events.length, length);
  });
}

const named = (inputId: string) => event("input_accepted", { inputId, delivery: "send", content: "x", named: true });

export function inputIds(check: StoreCheck): void {
  check("an input is found only by the id that its sender chose", async (store) => {
    const odd = ["a", "'; --", "%", "ü\u0001 🙂", "x".repeat(200), "__proto__"];
    await make(store, "t", input("not named"), ...odd.map(named));
    const found = await Promise.all(["i", "b", "", "A", ...odd].map((id) => store.findInput("t", id)));
    assert.deepEqual(found, [undefined, undefined, undefined, undefined, ...odd.map((_, at) => at + 3)]);
    await make(store, "other", named("elsewhere"));
    assert.equal(await store.findInput("t", "elsewhere"), undefined);
    await assert.rejects(store.findInput("nowhere", "a"), { code: "THREAD_NOT_FOUND" });
  });

  check("inputs from before a clone, or removed by a rewind, are not found", async (store) => {
    await make(store, "t", named("early"), named("late"));
    await clone(store, "c", { parent: "t", seq: 3 });
    assert.equal(await store.findInput("c", "early"), undefined);
    await store.append("c", [named("early")], { afterSeq: 4 });
    assert.equal(await store.findInput("c", "early"), 5);
    await rewind(store, "t", { afterSeq: 3, toSeq: 2 });
    assert.deepEqual([await store.findInput("t", "early"), await store.findInput("t", "late")], [2, undefined]);
    await store.append("t", [named("late")], { afterSeq: 4 });
    assert.equal(await store.findInput("t", "late"), 5);
  });

  check("with `all`, also inputs that were not named or that a rewind has reverted are found", async (store) => {
    const any = (id: string, inputId: string) => store.findInput(id, inputId, { all: true });
    await make(store, "t", input("not named"), named("late"));
    await clone(store, "c", { parent: "t", seq: 3 });
    assert.deepEqual([await any("t", "i"), await any("t", "late"), await any("t", "none")], [2, 3, undefined]);
    assert.deepEqual([await any("c", "i"), await any("c", "late")], [undefined, undefined]);
    await rewind(store, "t", { afterSeq: 3, toSeq: 2 });
    assert.deepEqual([await any("t", "i"), await any("t", "late")], [2, 3]);
    await store.append("t", [named("late")], { afterSeq: 4 });
    assert.equal(await any("t", "late"), 5);
    await assert.rejects(any("nowhere", "i"), { code: "THREAD_NOT_FOUND" });
  });
}

export function clonesAndRewinds(check: StoreCheck): void {
  check("a clone reads inherited events under its own id, and is independent of its parent", async (store) => {
    await make(store, "p", input("one"), input("two"), input("three"));
    assert.deepEqual(await clone(store, "c", { parent: "p", seq: 3 }), {
      kind: "appended",
      seq: 4,
      epoch: 0,
      driven: false,
    });
    await store.append("p", [input("parent's")], { afterSeq: 4 });
    await store.append("c", [input("clone's")], { afterSeq: 4 });
    assert.deepEqual(await texts(store, "p"), ["one", "two", "three", "parent's"]);
    assert.deepEqual(await texts(store, "c"), ["one", "two", "clone's"]);
    const read = await store.read("c");
    assert.deepEqual(
      read.map(({ seq, threadId }) => [seq, threadId]),
      [1, 2, 3, 4, 5].map((seq) => [seq, "c"]),
    );
    const { title, resourceId, parentId } = (await store.thread("c"))!;
    assert.deepEqual({ title, resourceId, parentId }, { title: "A clone", resourceId: "me", parentId: "p" });
  });

  check("a clone of a clone reads the events of all three threads, from either end", async (store) => {
    await make(store, "p", input("p2"), input("p3"));
    await clone(store, "c", { parent: "p", seq: 2 });
    await store.append("c", [input("c4"), input("c5")], { afterSeq: 3 });
    await clone(store, "d", { parent: "c", seq: 4 });
    await store.append("d", [input("d6")], { afterSeq: 5 });
    assert.deepEqual(await texts(store, "d"), ["p2", "c4", "d6"]);
    assert.deepEqual(await seqs(store, "d"), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(
      (await store.read("d", { last: true, limit: 4 })).map(({ seq }) => seq),
      [3, 4, 5, 6],
    );
    await clone(store, "e", { parent: "d", seq: 1 });
    assert.deepEqual(await seqs(store, "e"), [1, 2]);
  });

  check("a rewind removes the events after its target, and seq continues", async (store) => {
    await make(store, "t", input("two"), input("three"), input("four"));
    await rewind(store, "t", { afterSeq: 4, toSeq: 2 });
    await store.append("t", [input("six")], { afterSeq: 5 });
    assert.deepEqual(await seqs(store, "t"), [1, 2, 5, 6]);
    assert.deepEqual(await texts(store, "t"), ["two", "six"]);
    const behind = await store.append("t", [input("x")], { afterSeq: 4 });
    assert.deepEqual(behind, { kind: "newer", events: await store.read("t", { after: 4 }) });
    await rewind(store, "t", { afterSeq: 6, toSeq: 5 });
    await rewind(store, "t", { afterSeq: 7, toSeq: 1 });
    assert.deepEqual(await seqs(store, "t"), [1, 8]);
  });

  check("clones and rewinds do not affect each other", async (store) => {
    await make(store, "p", input("two"), input("three"));
    await clone(store, "before", { parent: "p", seq: 3 });
    await rewind(store, "p", { afterSeq: 3, toSeq: 1 });
    await store.append("p", [input("five")], { afterSeq: 4 });
    await clone(store, "after", { parent: "p", seq: 5 });
    await rewind(store, "after", { afterSeq: 6, toSeq: 2 });
    assert.deepEqual(await seqs(store, "p"), [1, 4, 5]);
    assert.deepEqual(await seqs(store, "before"), [1, 2, 3, 4]);
    assert.deepEqual(await texts(store, "before"), ["two", "three"]);
    assert.deepEqual(await seqs(store, "after"), [1, 7]);
    await rewind(store, "before", { afterSeq: 4, toSeq: 2 });
    assert.deepEqual(await texts(store, "before"), ["two"]);
  });
}
