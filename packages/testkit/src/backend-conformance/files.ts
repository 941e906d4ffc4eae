import assert from "node:assert/strict";
import { FileError, type Backend, type FileProblem } from "@cinch/workspace";
import type { Entry, GrepMatch, Reach } from "@cinch/workspace/backend";

/** Registers the test of one promise of the interface. */
export type BackendCheck = (sentence: string, body: (files: Files, context: CheckContext) => Promise<unknown>) => void;

interface CheckContext {
  inMemory: boolean;
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export async function* streamOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? utf8(chunk) : chunk;
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Asserts a rejection with a `FileError` of one of these problems. */
export const rejects = (work: Promise<unknown>, ...problems: FileProblem[]): Promise<void> =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof FileError, `a FileError, not ${String(error)}`);
    assert.ok(
      problems.includes(error.problem),
      `${error.problem} is not one of ${problems.join(", ")}: ${error.message}`,
    );
    return true;
  });

/** A backend under test, with shorter calls. */
export class Files {
  readonly backend: Backend;
  readonly reach: Reach;
  readonly #always: readonly string[];

  constructor({ backend, reach, always = [] }: { backend: Backend; reach: Reach; always?: readonly string[] }) {
    this.backend = backend;
    this.reach = reach;
    this.#always = always;
  }

  write(path: string, content: string | Uint8Array, ifVersion?: string | null) {
    const options = ifVersion === undefined ? {} : { ifVersion };
    return this.backend.write(path, streamOf(content), options, this.reach);
  }

  async writeAll(files: Record<string, string | Uint8Array>): Promise<void> {
    for (const [path, content] of Object.entries(files)) await this.write(path, content);
  }

  async bytes(path: string, range = {}): Promise<Buffer> {
    return Buffer.concat(await all(this.backend.read(path, range, this.reach)));
  }

  async text(path: string, range = {}): Promise<string> {
    return (await this.bytes(path, range)).toString("utf8");
  }

  stat(path: string) {
    return this.backend.stat(path, this.reach);
  }

  /** Without the directories that always exist. */
  async list(path: string): Promise<Entry[]> {
    const entries = await this.backend.list(path, this.reach);
    return entries.filter((entry) => !this.#always.includes(entry.path));
  }

  /** "path type", sorted. */
  async names(path: string): Promise<string[]> {
    return (await this.list(path)).map((entry) => `${entry.path} ${entry.type}`).toSorted();
  }

  delete(path: string) {
    return this.backend.delete(path, this.reach);
  }

  async glob(pattern: string, path = "/"): Promise<string[]> {
    const entries = await all(this.backend.glob({ pattern, path }, this.reach));
    return entries.map((entry) => entry.path).toSorted();
  }

  grep(pattern: string, query: { path?: string; glob?: string; regex?: boolean; ignoreCase?: boolean } = {}) {
    const { path = "/", regex = false, ignoreCase = false, ...rest } = query;
    return all(this.backend.grep({ pattern, path, regex, ignoreCase, ...rest }, this.reach));
  }

  /** "path:line:text", sorted. */
  async hits(pattern: string, query: Parameters<Files["grep"]>[1] = {}): Promise<string[]> {
    const matches = await this.grep(pattern, query);
    return matches.map(({ path, line, text }: GrepMatch) => `${path}:${line}:${text}`).toSorted();
  }
}
