import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { isWithin } from "../paths.ts";
import { GIT_FILES, GIT_FOLDER, OWN_FOLDER, STARTUP, type FrozenKind } from "./names.ts";

/** Real folders. */
export interface FrozenPlaces {
  /** Of the workspace. */
  root: string;
  /** Of the user, if there is one. */
  home: string | undefined;
}

export interface FrozenFile {
  /** A file, or a folder with everything in it. There may be nothing yet. */
  path: string;
  kind: FrozenKind;
}

/** More submodules and worktrees than these are not looked at one by one, nor more names in one folder: the event loop waits. */
const MOST = 500;
const MOST_NAMES = 2_000;
/** Git's files that name a folder hold nothing else. */
const TEXT_BYTES = 16 * 1024;

/** What is frozen, as far as it lies in the workspace: each file under its own path, and what it is a link to. */
export function frozenFiles({ root, home }: FrozenPlaces): FrozenFile[] {
  // Where it is no folder, it says where the folder is.
  const pointer = [join(root, ".git")].filter(isFile);
  const { folders, isCrowded } = repositories(root);
  // A command could make so many that others are not seen any more. Then none of them can be changed.
  const crowd = isCrowded ? folders.flatMap((folder) => [join(folder, "worktrees"), join(folder, "modules")]) : [];
  const apart = folders.filter((folder) => !crowd.some((whole) => isWithin(folder, whole)));
  const git = [...pointer, ...apart.flatMap(filesOf), ...crowd];
  const startup = home === undefined ? [] : STARTUP.map((name) => join(home, name));
  const of = (kind: FrozenKind, paths: readonly string[]) =>
    [...new Set(paths.flatMap((path) => [path, ...real(path)]))].map((path): FrozenFile => ({ path, kind }));
  const all = [...of("git", git), ...of("startup", startup), ...of("cinch", [join(root, OWN_FOLDER)])];
  return all.filter(({ path }) => path !== root && isWithin(path, root));
}

/** The folders of the repository in `root`, of its submodules and of its worktrees, as far as they lie in `root`. */
export const gitFolders = (root: string): string[] => repositories(root).folders;

function repositories(root: string): { folders: string[]; isCrowded: boolean } {
  const found = new Set<string>();
  let looked = 0;
  let isCrowded = false;
  const each = (folder: string, visit: (path: string) => void) => {
    for (const name of namesIn(folder)) {
      isCrowded ||= found.size > MOST || ++looked > MOST_NAMES;
      if (isCrowded) return;
      visit(join(folder, name));
    }
  };
  const add = (folder: string) => {
    const [path] = real(folder);
    if (path === undefined || found.has(path) || !isWithin(path, root) || !isFolder(path)) return;
    found.add(path);
    follow(path, join(path, "commondir"));
    each(join(path, "worktrees"), add);
    addModules(join(path, "modules"));
  };
  // One is a folder with a HEAD; the others are a part of the name of one.
  const addModules = (folder: string) =>
    each(folder, (path) => {
      if (isFolder(path) && isThere(join(path, "HEAD"))) add(path);
      else if (isFolder(path)) addModules(path);
    });
  const follow = (from: string, file: string) => {
    const target = textOf(file)?.replace(/^gitdir: */, "");
    if (target) add(resolve(from, target));
  };
  const git = join(root, ".git");
  if (isFolder(real(git)[0] ?? git)) add(git);
  else follow(root, git);
  return { folders: [...found], isCrowded };
}

/** With what hooks are links to. */
function filesOf(folder: string): string[] {
  const hooks = join(folder, GIT_FOLDER);
  const linked = namesIn(hooks).map((name) => join(hooks, name));
  return [hooks, ...linked.filter(isLink), ...GIT_FILES.map((name) => join(folder, name))];
}

function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** One more than are looked at, if there are so many. */
function namesIn(folder: string): string[] {
  const names: string[] = [];
  try {
    const entries = opendirSync(folder);
    try {
      for (let entry = entries.readSync(); entry && names.length <= MOST_NAMES; entry = entries.readSync())
        names.push(entry.name);
    } finally {
      entries.closeSync();
    }
  } catch {
    // It is not there, or no folder.
  }
  return names;
}

const { O_RDONLY, O_NONBLOCK } = constants;

/** What a small file holds. A command may have put a pipe in its place, which must not be waited for. */
export function textOf(file: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, O_RDONLY | O_NONBLOCK);
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= TEXT_BYTES ? readFileSync(fd, "utf8").trim() : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
