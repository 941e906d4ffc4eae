import type { WorkspaceReader } from "@cinch/core";

/** A file as a reader sees it. */
export interface Place {
  reader: WorkspaceReader;
  path: string;
  /** Readers of one scope see the same files. Another resource may have another file of the same path and version. */
  scope: string;
}

interface CacheOptions<T> {
  parse(path: string, file: { text: string; size: number }): T;
  /** What stands for a file that can't be read. `known`: what it was before. */
  failed(path: string, reason: string, known: T | null): T;
  maxBytes: number;
}

/** What `parse` makes of files, kept while they do not change: a turn with hundreds of files must not read them all again. */
export class FileCache<T> {
  readonly #options: CacheOptions<T>;
  readonly #parsed = new Map<string, { version: string; value: T }>();

  constructor(options: CacheOptions<T>) {
    this.#options = options;
  }

  /** `null`: there is no such file. One that can't be read does not affect the others. */
  async get(place: Place): Promise<T | null> {
    return this.#guarded(place, async () => this.#at(place, await place.reader.version(place.path)));
  }

  /** The same for many files of one folder, whose versions are read together. */
  async getAll(folder: Omit<Place, "path">, paths: readonly string[]): Promise<(T | null)[]> {
    const versions = await folder.reader.versions?.(paths).catch(() => undefined);
    return inGroups(paths, (path, at) => {
      const place = { ...folder, path };
      return versions ? this.#guarded(place, () => this.#at(place, versions[at] ?? null)) : this.get(place);
    });
  }

  async #guarded(place: Place, look: () => Promise<T | null>): Promise<T | null> {
    try {
      return await look();
    } catch (error) {
      return this.#options.failed(place.path, shortReason(error), this.#parsed.get(keyOf(place))?.value ?? null);
    }
  }

  async #at(place: Place, version: string | null): Promise<T | null> {
    if (version === null) return null;
    const { reader, path } = place;
    const key = keyOf(place);
    const known = this.#parsed.get(key);
    if (known?.version === version) return known.value;
    const file = await reader.read(path, { maxBytes: this.#options.maxBytes });
    if (!file) return null;
    const value = this.#options.parse(path, file);
    this.#parsed.delete(key);
    this.#parsed.set(key, { version: file.version, value });
    if (this.#parsed.size > MAX_FILES) this.#parsed.delete(this.#parsed.keys().next().value!);
    return value;
  }
}

const keyOf = ({ scope, path }: Place): string => `${scope}\0${path}`;

/** A message of a backend may quote anything. */
export function shortReason(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason.slice(0, MAX_REASON).toWellFormed();
}

const MAX_REASON = 300;
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
