import { createHash } from "node:crypto";

/** What of a list differs from an earlier one. */
export interface ListChange {
  added: string[];
  changed: string[];
  removed: string[];
}

interface KnownList {
  /** For each item, the hash of its text. */
  items: ReadonlyMap<string, string>;
  /** The files that it was made of. */
  paths: ReadonlySet<string>;
}

/** The lists that a source has given to prompts, by version. */
export class KnownLists {
  readonly #lists = new Map<string, KnownList>();

  /** Remembers a list and returns its version. */
  add(items: ReadonlyMap<string, string>, paths: Iterable<string>): string {
    const version = hashed(JSON.stringify([...items]));
    this.#lists.delete(version);
    this.#lists.set(version, { items, paths: new Set(paths) });
    if (this.#lists.size > MAX_LISTS) this.#lists.delete(this.#lists.keys().next().value!);
    return version;
  }

  /** `null`: another process made the earlier list, or it is too old. */
  change(from: string | undefined, items: ReadonlyMap<string, string>): ListChange | null {
    const before = from === undefined ? undefined : this.#lists.get(from)?.items;
    if (!before) return null;
    return {
      added: [...items.keys()].filter((key) => !before.has(key)),
      changed: [...items].filter(([key, hash]) => before.has(key) && before.get(key) !== hash).map(([key]) => key),
      removed: [...before.keys()].filter((key) => !items.has(key)),
    };
  }

  /** Whether the prompt may have the text of this file: another process made the list, or it is too old, or it has the file. */
  mayHave(version: string | undefined, path: string): boolean {
    return version !== undefined && (this.#lists.get(version)?.paths.has(path) ?? true);
  }
}

const MAX_LISTS = 100;

export const hashed = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);
