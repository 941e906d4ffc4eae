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
    const version = await reader.version(path);
    if (version === null) return null;
    const known = this.#parsed.get(path);
    if (known?.version === version) return known.value;
    const file = await reader.read(path, { maxBytes: this.#maxBytes });
    if (!file) return null;
    const value = this.#parse(path, file);
    this.#parsed.delete(path);
    this.#parsed.set(path, { version: file.version, value });
    if (this.#parsed.size > MOST) this.#parsed.delete(this.#parsed.keys().next().value!);
    return value;
  }
}

const MOST = 5_000;
