/**
 * A map with strings as keys. Setting or deleting a key copies a few small nodes and shares the rest, so that a fold costs as much at
 * its thousandth key as at its first. Plain data, which survives JSON. Its shape depends on its keys, not on the order of changes.
 */
export type Trie<T> = Leaf<T> | Branch<T>;

interface Leaf<T> {
  readonly size: number;
  readonly leaf: Readonly<Record<string, T>>;
}

interface Branch<T> {
  readonly size: number;
  readonly kids: readonly (Trie<T> | null)[];
}

const BITS = 4;
const KIDS = 2 ** BITS;
/** A leaf with more keys than this becomes a branch. */
const LEAF_KEYS = 16;
/** Keys whose hashes agree in all bits share a leaf of any size. */
const DEEPEST = 32 / BITS;

export const emptyTrie: Leaf<never> = { size: 0, leaf: {} };

export function trieGet<T>(trie: Trie<T>, key: string): T | undefined {
  const hash = hashOf(key);
  let node: Trie<T> | null = trie;
  for (let depth = 0; node && "kids" in node; depth++) node = node.kids[slotOf(hash, depth)] ?? null;
  return node && Object.hasOwn(node.leaf, key) ? node.leaf[key] : undefined;
}

export const trieSet = <T>(trie: Trie<T>, key: string, value: T): Trie<T> => set(trie, hashOf(key), 0, { key, value });

export const trieDelete = <T>(trie: Trie<T>, key: string): Trie<T> => remove(trie, { key, hash: hashOf(key) }, 0);

export function* trieEntries<T>(trie: Trie<T>): Generator<[string, T]> {
  if ("leaf" in trie) yield* Object.entries(trie.leaf);
  else for (const kid of trie.kids) if (kid) yield* trieEntries(kid);
}

export function* trieKeys(trie: Trie<unknown>): Generator<string> {
  for (const [key] of trieEntries(trie)) yield key;
}

const records = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** All entries as a record, made once for each version of a trie. */
export function trieRecord<T>(trie: Trie<T>): Readonly<Record<string, T>> {
  if ("leaf" in trie) return trie.leaf;
  const known = records.get(trie) ?? Object.fromEntries(trieEntries(trie));
  records.set(trie, known);
  return known as Readonly<Record<string, T>>;
}

function set<T>(node: Trie<T>, hash: number, depth: number, entry: { key: string; value: T }): Trie<T> {
  const { key, value } = entry;
  if ("leaf" in node) {
    const leaf = { ...node.leaf, [key]: value };
    const size = node.size + (Object.hasOwn(node.leaf, key) ? 0 : 1);
    return size <= LEAF_KEYS || depth === DEEPEST ? { size, leaf } : branchOf({ size, leaf }, depth);
  }
  const at = slotOf(hash, depth);
  const before = node.kids[at] ?? emptyTrie;
  const kid = set<T>(before, hash, depth + 1, entry);
  return { size: node.size - before.size + kid.size, kids: node.kids.with(at, kid) };
}

function branchOf<T>({ size, leaf }: Leaf<T>, depth: number): Branch<T> {
  const kids: (Trie<T> | null)[] = Array.from({ length: KIDS }, () => null);
  for (const [key, value] of Object.entries(leaf)) {
    const hash = hashOf(key);
    const at = slotOf(hash, depth);
    kids[at] = set<T>(kids[at] ?? emptyTrie, hash, depth + 1, { key, value });
  }
  return { size, kids };
}

function remove<T>(node: Trie<T>, target: { key: string; hash: number }, depth: number): Trie<T> {
  if ("leaf" in node) {
    if (!Object.hasOwn(node.leaf, target.key)) return node;
    const { [target.key]: _, ...leaf } = node.leaf;
    return { size: node.size - 1, leaf };
  }
  const at = slotOf(target.hash, depth);
  const before = node.kids[at];
  const kid = before && remove(before, target, depth + 1);
  if (!before || !kid || kid === before) return node;
  const kids = node.kids.with(at, kid.size > 0 ? kid : null);
  const size = node.size - 1;
  return size > LEAF_KEYS ? { size, kids } : { size, leaf: Object.fromEntries(trieEntries({ size, kids })) };
}

const slotOf = (hash: number, depth: number): number => (hash >>> (depth * BITS)) & (KIDS - 1);

/** FNV-1a. */
function hashOf(key: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01_00_01_93);
  return hash >>> 0;
}
