import type { Backend, Entry, GlobQuery, GrepMatch, GrepQuery, Reach, TreeFile } from "../backend.ts";
import { collect } from "../contents/collect.ts";
import { FileError, fileError } from "../file-error.ts";
import { nameOf } from "../paths.ts";
import { Batches } from "./batches.ts";
import { searchable } from "./contents.ts";
import { EVERYTHING, planGlob, planGrep } from "./plan.ts";
import { lineMatches, type Source } from "./line-matches.ts";
import { walk, type Found, type WalkQuery, type Walkable } from "./walk.ts";

/** The calls that a search needs. */
export type Searchable = Pick<Backend, "list" | "stat" | "read">;

/** The most that is read of an ignore file. */
const BEGINNING_BYTES = 256 * 1024;

/** `glob` for backends without a faster one. */
export async function* globFiles(backend: Searchable, query: GlobQuery, reach: Reach): AsyncGenerator<Entry> {
  reach.signal?.throwIfAborted();
  const asked = await backend.stat(query.path, reach);
  if (!asked) throw fileError("not_found", query.path);
  if (asked.type === "file") throw fileError("not_a_directory", query.path);
  const search = planGlob(query);
  for await (const { known } of filesOf(backend, search, reach)) yield known!;
}

/** `tree` for backends without a faster one. */
export async function* treeFiles(backend: Searchable, reach: Reach): AsyncGenerator<TreeFile> {
  for await (const { path } of new Batches(walk(walkable(backend, reach), EVERYTHING, reach.signal))) {
    const stat = await backend.stat(path, reach);
    if (stat?.type === "file") yield { ...stat, settled: true, contents: () => backend.read(path, {}, reach) };
  }
}

/** `grep` for backends without a faster one: ripgrep reads their files from its standard input. */
export async function* grepFiles(backend: Searchable, query: GrepQuery, reach: Reach): AsyncGenerator<GrepMatch> {
  reach.signal?.throwIfAborted();
  const search = planGrep(query);
  const asked = await backend.stat(query.path, reach);
  if (!asked) throw fileError("not_found", query.path);
  yield* lineMatches(sourcesOf(backend, search, reach), query, reach.signal);
}

async function* sourcesOf(backend: Searchable, search: WalkQuery, reach: Reach): AsyncGenerator<Source> {
  for await (const { path } of filesOf(backend, search, reach)) {
    const chunks = readable(() => backend.read(path, {}, reach));
    yield { path, contents: searchable(chunks, reach.signal) };
  }
}

/** No bytes of a file that can't be read or no longer exists. */
async function* readable(read: () => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* read();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
  }
}

async function* filesOf(backend: Searchable, search: WalkQuery | null, reach: Reach): AsyncGenerator<Found<Entry>> {
  if (!search) return;
  const start = await backend.stat(search.start, reach);
  if (!start) return;
  if (start.type === "directory") return yield* new Batches(walk(walkable(backend, reach), search, reach.signal));
  if (search.fits(start.path)) {
    const { version: _, ...entry } = start;
    yield { path: start.path, known: entry };
  }
}

/** Adapts a backend for a walk. */
function walkable(backend: Searchable, reach: Reach): Walkable<Entry> {
  return {
    async children(path) {
      const entries = await backend.list(path, reach);
      const own = entries.filter(({ target }) => target === undefined);
      return own.map((entry) => ({ name: nameOf(entry.path), type: entry.type, known: entry }));
    },
    beginning: (path) => beginningOf(backend, path, reach),
  };
}

/** The beginning of a file as text; "" if it does not exist or can't be read. */
export async function beginningOf(backend: Pick<Backend, "read">, path: string, reach: Reach): Promise<string> {
  const chunks = readable(() => backend.read(path, { end: BEGINNING_BYTES }, reach));
  return (await collect(chunks)).toString("utf8");
}
