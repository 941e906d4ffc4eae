import { FileError } from "../file-error.ts";
import { isUsableName, joinPath, namesOf } from "../paths.ts";
import { isSliceOver, yieldIfDue } from "../contents/pace.ts";
import { IGNORE_FILES, Ignores } from "./ignore.ts";

/** An entry of a directory. Links are omitted: walks don't follow them. */
export interface Child<Known = unknown> {
  name: string;
  type: "file" | "directory";
  /** What the tree already knows of it. */
  known?: Known;
  /** Whether it matches, if the tree has already checked. */
  fits?: boolean;
}

/** A tree of files that can be walked. */
export interface Walkable<Known = unknown> {
  children(path: string): Promise<Child<Known>[]>;
  /** The beginning of a file as text; "" if it does not exist or can't be read. */
  beginning(path: string): Promise<string>;
}

/** A file that a walk found. */
export interface Found<Known = unknown> {
  path: string;
  known?: Known;
}

export interface WalkQuery {
  start: string;
  fits(path: string): boolean;
  /** Whether something below this directory can match. */
  enters(directory: string): boolean;
  /** Names that are included, with everything in them, even if an ignore file excludes them. */
  named: ReadonlySet<string>;
  /** Whether ignore files exclude files by name too, or only whole folders. */
  leavesOut: "files" | "folders";
}

/** How many directories are read at once. */
const WAVE = 16;
/** How many files one batch has. */
const TOGETHER = 2_000;

interface Visit {
  path: string;
  /** Whether the query names it. */
  named: boolean;
  /** `null`: nothing is excluded, because the query names this folder. */
  ignores: Ignores | null;
}

/** The files below a directory, in any order, in batches. Rejects only if the directory itself can't be listed. */
export async function* walk<Known>(
  tree: Walkable<Known>,
  search: WalkQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<Found<Known>[]> {
  const start: Visit = {
    path: search.start,
    named: search.start !== "/",
    ignores: await ignoresAbove(tree, search.start),
  };
  const waiting = [start];
  let found: Found<Known>[] = [];
  while (waiting.length > 0) {
    signal?.throwIfAborted();
    const wave = waiting.splice(-WAVE);
    for (const { visit, children } of await Promise.all(
      wave.map((one) => look(tree, one, { isStart: one === start })),
    )) {
      const forgiving = search.leavesOut === "folders" && !visit.ignores?.excludesContents(visit.path);
      for (const child of children) {
        // A folder may be large, and matching slow.
        if (isSliceOver()) {
          await yieldIfDue();
          signal?.throwIfAborted();
        }
        if (!isUsableName(child.name)) continue;
        const path = joinPath(visit.path, child.name);
        const named = search.named.has(child.name);
        const excluded = visit.ignores?.excludes(path, child.type) ?? false;
        if (child.type === "directory") {
          if ((!excluded || named) && search.enters(path))
            waiting.push({ path, named, ignores: excluded ? null : visit.ignores });
        } else if ((!excluded || named || forgiving) && (child.fits ?? search.fits(path))) {
          found.push({ path, known: child.known });
          if (found.length < TOGETHER) continue;
          yield found;
          found = [];
        }
      }
    }
    if (found.length > 0) yield found;
    found = [];
  }
}

/** The entries of a directory, with the rules of its ignore files. */
async function look<Known>(tree: Walkable<Known>, visit: Visit, { isStart }: { isStart: boolean }) {
  const children = await tree.children(visit.path).catch((error: unknown) => {
    // A folder that has disappeared or can't be read must not fail the walk.
    if (!isStart && error instanceof FileError) return [];
    throw error;
  });
  if (!visit.ignores) return { visit, children };
  const names = children.filter(({ type }) => type === "file").map(({ name }) => name);
  const ignores = await withFilesIn(tree, visit.path, visit.ignores, (name) => names.includes(name));
  const asked = visit.named && ignores.excludesContents(visit.path);
  return { visit: { ...visit, ignores: asked ? null : ignores }, children };
}

/** The rules of the ignore files above a directory; `null` if they exclude it. */
export async function ignoresAbove(tree: Pick<Walkable, "beginning">, directory: string): Promise<Ignores | null> {
  let ignores = new Ignores();
  let path = "/";
  for (const name of namesOf(directory)) {
    ignores = await withFilesIn(tree, path, ignores, () => true);
    path = joinPath(path, name);
    if (ignores.excludes(path, "directory")) return null;
  }
  return ignores;
}

async function withFilesIn(
  tree: Pick<Walkable, "beginning">,
  directory: string,
  ignores: Ignores,
  has: (name: string) => boolean,
) {
  const texts = IGNORE_FILES.filter(has).map((name) => tree.beginning(joinPath(directory, name)));
  const text = (await Promise.all(texts)).join("\n").trimEnd();
  // Rules take time to compile, and many folders are looked at together.
  await yieldIfDue();
  return ignores.within(directory, text);
}
