import assert from "node:assert/strict";
import type { SavedFold, Store } from "@cinch/core";
import { type Check, make } from "./sample.ts";

type Caching = Store & Required<Pick<Store, "fold" | "saveFold">>;

/** For stores that have the cache: the port leaves it to them. */
export function caching(check: Check): void {
  const caches = (sentence: string, body: (store: Caching, another: () => Promise<Store>) => Promise<void>) =>
    check(sentence, async (store, another) => {
      if (store.fold && store.saveFold) await body(store as Caching, another);
    });
  const saved = (seq: number, more: Partial<SavedFold> = {}): SavedFold => {
    return { seq, fingerprint: "f", body: `folded at ${seq}`, ...more };
  };

  caches("a saved fold comes back as it was saved, in another process too", async (store, another) => {
    await make(store, "t");
    assert.equal(await store.fold("t"), undefined);
    const strange = saved(1, { body: JSON.stringify("\0 \ud800 ü 🙂 \u2028 '; --").repeat(10_000) });
    await store.saveFold("t", strange);
    const other = await another();
    assert.deepEqual([await store.fold("t"), await other.fold?.("t")], [strange, strange]);
  });

  caches(
    "a fold that reaches further, or that other code has folded, takes the place of the one before",
    async (store) => {
      await make(store, "t");
      await store.saveFold("t", saved(5));
      await store.saveFold("t", saved(4));
      assert.deepEqual(await store.fold("t"), saved(5));
      await store.saveFold("t", saved(6));
      assert.deepEqual(await store.fold("t"), saved(6));
      await store.saveFold("t", saved(2, { fingerprint: "g" }));
      assert.deepEqual(await store.fold("t"), saved(2, { fingerprint: "g" }));
    },
  );

  caches("a saved fold is its thread's alone, and goes with it", async (store) => {
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
