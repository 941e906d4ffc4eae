import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { emptyTrie, trieDelete, trieEntries, trieGet, trieRecord, trieSet, type Trie } from "../../src/folds/trie.ts";

const keys = fc.oneof(fc.string(), fc.nat(40).map(String), fc.constantFrom("__proto__", "constructor", "toString"));
const changes = fc.array(fc.tuple(keys, fc.option(fc.nat())), { maxLength: 200 });

const changed = (trie: Trie<number>, [key, value]: [string, number | null]): Trie<number> =>
  value === null ? trieDelete(trie, key) : trieSet(trie, key, value);

test("a trie has the same entries as a map after the same changes, and survives JSON", () => {
  fc.assert(
    fc.property(changes, (all) => {
      const map = new Map<string, number>();
      for (const [key, value] of all) void (value === null ? map.delete(key) : map.set(key, value));
      const trie = all.reduce(changed, emptyTrie as Trie<number>);
      assert.equal(trie.size, map.size);
      assert.deepEqual(new Map(trieEntries(trie)), map);
      assert.deepEqual(new Map(Object.entries(trieRecord(trie))), map);
      for (const [key] of all) assert.equal(trieGet(trie, key), map.get(key));
      assert.deepEqual(JSON.parse(JSON.stringify(trie)), trie);
    }),
  );
});

test("a change does not modify the previous trie", () => {
  fc.assert(
    fc.property(changes, fc.tuple(keys, fc.option(fc.nat())), (all, one) => {
      const before = all.reduce(changed, emptyTrie as Trie<number>);
      const copy = structuredClone(before);
      changed(before, one);
      assert.deepEqual(before, copy);
    }),
  );
});

test("the shape of a trie depends on its keys, not on the order of changes", () => {
  fc.assert(
    fc.property(fc.uniqueArray(keys, { minLength: 10, maxLength: 60 }), fc.nat(40), (all, kept) => {
      const grown = all.reduce<Trie<number>>((trie, key, at) => trieSet(trie, key, at), emptyTrie);
      const shrunk = all.slice(kept).reduce<Trie<number>>(trieDelete, grown);
      const again = [...trieEntries(shrunk)].toReversed().reduce<Trie<number>>(changed, emptyTrie);
      assert.deepEqual(again, shrunk);
    }),
  );
});
