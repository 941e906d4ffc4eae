import assert from "node:assert/strict";
import type { SavedFold } from "@cinch/core/store";
import type { Store } from "@cinch/core";
import { type StoreCheck, make } from "./samples.ts";

type CachingStore = Store & Required<Pick<Store, "fold" | "saveFold">>;

/** Only for stores that save folds, which is optional. */
export function savedFolds(check: StoreCheck): void {
  const caches = (sentence: string, body: (store: CachingStore, another: () => Promise<Store>) => Promise<void>) =>
    check(sentence, async (store, another) => {
      if (store.fold && store.saveFold) await body(store as CachingStore, another);
    });
  const saved = (seq: number, more: Partial<SavedFold> = {}): SavedFold => {
    return { seq, fingerprint: "f", body: `folded at ${seq}`, ...more };
  };

  caches("a saved fold is returned unchanged, even by another store on the same data", async (store, another) => {
    await make(store, "t");
    assert.equal(await store.fold("t"), undefined);
    const strange = saved(1, { body: JSON.stringify("\0 \ud800 ü 🙂 \u2028 '; --").repeat(10_000) });
    await store.saveFold("t", strange);
    const other = await another();
    assert.deepEqual([await store.fold("t"), await other.fold?.("t")], [strange, strange]);
  });

  caches("a saved fold is replaced by one with a newer seq or another fingerprint", async (store) => {
    await make(store, "t");
    await store.saveFold("t", saved(5));
    await store.saveFold("t", saved(4));
    assert.deepEqual(await store.fold("t"), saved(5));
    await store.saveFold("t", saved(6));
    assert.deepEqual(await store.fold("t"), saved(6));
    await store.saveFold("t", saved(2, { fingerprint: "g" }));
    assert.deepEqual(await store.fold("t"), saved(2, { fingerprint: "g" }));
  });

  caches("a saved fold belongs to one thread, and is deleted with it", async (store) => {
    await make(store, "a");
    await make(store, "b");
    await store.saveFold("a", saved(1));
    await store.saveFold("nowhere", saved(1));
    assert.deepEqual([await store.fold("b"), await store.fold("nowhere")], [undefined, undefined]);
    await store.deleteThread("a");
    await store.saveFold("a", saved(2));
    assert.equal(await store.fold("a"), undefined);
  });
}
