import type { Entry, GlobQuery, GrepMatch, GrepQuery } from "../../backend.ts";
import { FileError, fileError } from "../../file-error.ts";
import { planGlob, planGrep } from "../../search/plan.ts";
import { walk, type Walkable } from "../../search/index.ts";
import { Subtree } from "./subtree.ts";
import type { Disk, Links, Located } from "../disk.ts";
import { entryOf } from "../folder.ts";
import { matchesBelow, matchesIn } from "./ripgrep-matches.ts";
import { QuickListing } from "./quick-listing.ts";
import { wantedFiles } from "./wanted-files.ts";

export interface SearchOptions {
  links: Links;
  signal: AbortSignal | undefined;
  /** The beginning of any file of the workspace, for ignore files. */
  beginning(path: string): Promise<string>;
}

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
  const wanted = await wantedFiles(below, search, options);
  const fast = { names: namesFor(query), without: [...wanted.skipped, ...(await wanted.excludedFolders())] };
  for await (const matches of matchesBelow(below, fast, { query, signal: options.signal }))
    yield await wanted.among(matches);
}

/** A pattern for names that ripgrep reads as we do, and that fits every file that the query wants; `undefined`: there is none. */
function namesFor({ glob = "" }: GrepQuery): string | undefined {
  const name = glob.slice(glob.lastIndexOf("/") + 1);
  return /^\*\.(?:\w+|\{\w+(?:,\w+)+\})$/.test(name) && !glob.startsWith("!") ? name : undefined;
}

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
