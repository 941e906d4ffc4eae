import type { WorkspaceReader } from "@cinch/core";

/** What `parse` makes of files, kept while they do not change: a turn with hundreds of files must not read them all again. */
export class FileCache<T> {
  readonly #parse: (path: string, file: { text: string; size: number }) => T;
  readonly #maxBytes: number;
  readonly #parsed = new Map<string, { version: string; value: T }>();

  constructor(parse: (path: string, file: { text: string; size: number }) => T, { maxBytes }: { maxBytes: number }) {
    this.#parse = parse;
    this.#maxBytes = maxBytes;
  }

  /** `null`: there is no such file. */
  async get(reader: WorkspaceReader, path: string): Promise<T | null> {
    return this.#at(reader, path, await reader.version(path));
  }

  /** The same for many files, whose versions are read together. */
  async getAll(reader: WorkspaceReader, paths: readonly string[]): Promise<(T | null)[]> {
    const versions = (await reader.versions?.(paths)) ?? (await inGroups(paths, (path) => reader.version(path)));
    return inGroups(paths, (path, at) => this.#at(reader, path, versions[at] ?? null));
  }

  async #at(reader: WorkspaceReader, path: string, version: string | null): Promise<T | null> {
    if (version === null) return null;
    const known = this.#parsed.get(path);
    if (known?.version === version) return known.value;
    const file = await reader.read(path, { maxBytes: this.#maxBytes });
    if (!file) return null;
    const value = this.#parse(path, file);
    this.#parsed.delete(path);
    this.#parsed.set(path, { version: file.version, value });
    if (this.#parsed.size > MAX_FILES) this.#parsed.delete(this.#parsed.keys().next().value!);
    return value;
  }
}

const MAX_FILES = 5_000;
/** How many files are looked at at once. */
const AT_ONCE = 64;

export async function inGroups<In, Out>(
  all: readonly In[],
  work: (one: In, at: number) => Out | Promise<Out>,
): Promise<Out[]> {
  const done: Out[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE)
    done.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map((one, at) => work(one, from + at)))));
  return done;
}
