import { createHash } from "node:crypto";

/** What of a list differs from an earlier one. */
export interface ListChange {
  added: string[];
  changed: string[];
  removed: string[];
}

/** The lists that a source has given to prompts, by version: for each item, the hash of its text. */
export class KnownLists {
  readonly #lists = new Map<string, ReadonlyMap<string, string>>();

  /** Remembers a list and returns its version. */
  add(items: ReadonlyMap<string, string>): string {
    const version = hashed(JSON.stringify([...items]));
    this.#lists.delete(version);
    this.#lists.set(version, items);
    if (this.#lists.size > MAX_LISTS) this.#lists.delete(this.#lists.keys().next().value!);
    return version;
  }

  /** `null`: another process made the earlier list, or it is too old. */
  change(from: string | undefined, items: ReadonlyMap<string, string>): ListChange | null {
    const before = from === undefined ? undefined : this.#lists.get(from);
    if (!before) return null;
    return {
      added: [...items.keys()].filter((key) => !before.has(key)),
      changed: [...items].filter(([key, hash]) => before.has(key) && before.get(key) !== hash).map(([key]) => key),
      removed: [...before.keys()].filter((key) => !items.has(key)),
    };
  }
}

const MAX_LISTS = 100;

export const hashed = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);
