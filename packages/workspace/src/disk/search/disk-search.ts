import type { Entry, GlobQuery, GrepMatch, GrepQuery } from "../../backend.ts";
import { FileError, fileError } from "../../file-error.ts";
import { relativeTo } from "../../paths.ts";
import { planGlob, planGrep } from "../../search/plan.ts";
import { walk, type Found, type WalkQuery, type Walkable } from "../../search/index.ts";
import { Subtree } from "./subtree.ts";
import { ignoredPaths } from "./ignored-paths.ts";
import type { Disk, Links, Located } from "../disk.ts";
import { entryOf } from "../folder.ts";
import { matchesBelow, matchesIn } from "./ripgrep-matches.ts";
import { QuickListing } from "./quick-listing.ts";

export interface SearchOptions {
  links: Links;
  signal: AbortSignal | undefined;
  /** The beginning of any file of the workspace, for ignore files. */
  beginning(path: string): Promise<string>;
}

const MAX_NAMES_BYTES = 400_000;

export async function* globDisk(disk: Disk, query: GlobQuery, options: SearchOptions): AsyncGenerator<Entry[]> {
  await checkDirectory(disk, query.path, options);
  const search = planGlob(query);
  if (!search) return;
  await using located = await whereItBegins(disk, search.start, options);
  if (!located) return;
  const { found } = located;
  if (found?.kind === "file" && search.fits(search.start)) yield [entryOf(search.start, found.stats)];
  if (!located.isDirectory) return;
  const below = new Subtree(located.enter(), search.start);
  const quick = new QuickListing(below, search.fits);
  const tree: Walkable<Entry> = { children: (path) => quick.children(path), beginning: options.beginning };
  for await (const files of walk(tree, search, options.signal)) yield files.map(({ known }) => known!);
}

/** A literal name at the beginning of the pattern may be a link. If links are not followed, the search finds nothing. */
async function whereItBegins(disk: Disk, path: string, { links }: SearchOptions): Promise<Located | null> {
  try {
    return await disk.locate(path, links);
  } catch (error) {
    if (!links.follow && error instanceof FileError && error.problem === "changed") return null;
    throw error;
  }
}

export async function* grepDisk(disk: Disk, query: GrepQuery, options: SearchOptions): AsyncGenerator<GrepMatch[]> {
  const search = planGrep(query);
  await using located = await disk.locate(query.path, options.links);
  if (!located.found && !located.isDirectory) throw fileError("not_found", query.path);
  if (!located.isDirectory) return yield* grepFile(located, query, options);
  const below = new Subtree(located.enter(), query.path);
  const names = namesFor(query);
  const isQuick = names !== null && below.start.confinement === "descriptors";
  const ignored = isQuick ? await ignoredPaths(below, options) : null;
  if (!isQuick || !ignored) return yield* grepWalk(below, search, query, options);
  const quick = { names, without: await ignored.folders() };
  for await (const matches of matchesBelow(below, quick, { query, signal: options.signal }))
    yield await ignored.without(matches);
}

/** Walks here, and passes only files to ripgrep. */
async function* grepWalk(
  below: Subtree,
  search: WalkQuery,
  query: GrepQuery,
  { beginning, signal }: SearchOptions,
): AsyncGenerator<GrepMatch[]> {
  const tree: Walkable = { children: (path) => below.children(path), beginning };
  let most = 16;
  const room = () => {
    // Small groups first, for quick results; later large ones, because each starts a process.
    most = Math.min(most * 16, 8_192);
    return most;
  };
  for await (const files of ahead(inGroups(walk(tree, search, signal), room))) {
    const names = files.map(({ path }) => relativeTo(query.path, path));
    yield* matchesIn(below, names, { query, signal });
  }
}

/** A pattern that means the same to ripgrep; `undefined`: all files. `null` for any other pattern. */
const namesFor = ({ glob }: GrepQuery): string | undefined | null =>
  glob === undefined || /^\*\.\w+$/.test(glob) ? glob : null;

/** A file that the query names is searched even if an ignore file excludes it. */
async function* grepFile(located: Located, query: GrepQuery, { signal }: SearchOptions): AsyncGenerator<GrepMatch[]> {
  if (located.found?.kind !== "file") return;
  const below = new Subtree(located.folder, located.folder.path);
  for await (const matches of matchesIn(below, [located.name], { query, signal }))
    yield matches.map((match) => ({ ...match, path: query.path }));
}

async function checkDirectory(disk: Disk, path: string, { links }: SearchOptions): Promise<void> {
  await using located = await disk.locate(path, links);
  located.enter(path);
}

/** Fetches the next item while the current one is used. */
async function* ahead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = Promise.allSettled([items.next()]);
  try {
    for (;;) {
      const [item] = await next;
      if (item.status === "rejected") throw item.reason;
      if (item.value.done) return;
      next = Promise.allSettled([items.next()]);
      yield item.value.value;
    }
  } finally {
    await next;
    await items.return(undefined);
  }
}

/** Groups of at most so many files, whose names fit into one command line. */
async function* inGroups(files: AsyncIterable<Found[]>, most: () => number): AsyncGenerator<Found[]> {
  let group: Found[] = [];
  let [room, length] = [most(), 0];
  for await (const some of files) {
    for (const file of some) {
      group.push(file);
      length += Buffer.byteLength(file.path);
      if (group.length < room && length < MAX_NAMES_BYTES) continue;
      yield group;
      group = [];
      [room, length] = [most(), 0];
    }
  }
  if (group.length > 0) yield group;
}
