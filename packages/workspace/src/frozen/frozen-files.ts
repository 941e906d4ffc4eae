import { closeSync, constants, fstatSync, opendirSync, openSync, readFileSync, type Dirent } from "node:fs";
import { join, resolve } from "node:path";
import { isFile, isFolder, isThere, realPath, wayOf } from "../disk/on-disk.ts";
import { isWithin } from "../paths.ts";
import { GIT_FILES, GIT_FOLDER, OWN_FOLDER, STARTUP, type FrozenKind } from "./names.ts";

/** Real folders. */
export interface FrozenFolders {
  /** Of the workspace. */
  root: string;
  /** Of the user, if there is one. */
  home: string | undefined;
}

export interface FrozenFile {
  /** A file, or a folder with everything in it. It may not exist yet. */
  path: string;
  kind: FrozenKind;
}

/** How many submodules and worktrees, and how many names in all, are read: the event loop waits for this. */
const MAX_REPOSITORIES = 500;
const MAX_NAMES = 2_000;
/** How many hooks are looked at in all. A new repository has 13 or 14. */
const MAX_HOOKS = 20_000;
/** Files of git that name a folder are small. */
const MAX_TEXT_BYTES = 16 * 1024;

/** The frozen files in the workspace: each under its own path, and under those that its links lead to, which may not exist yet. */
export function frozenFiles({ root, home }: FrozenFolders): FrozenFile[] {
  // Where `.git` is a file, it names the folder of the repository.
  const pointer = [join(root, ".git")].filter(isFile);
  const { folders, isCrowded } = repositories(root);
  // A command could make so many repositories that others are not found. Then these folders are frozen as a whole.
  const crowd = isCrowded ? folders.flatMap((folder) => [join(folder, "worktrees"), join(folder, "modules")]) : [];
  const apart = folders.filter((folder) => !crowd.some((whole) => isWithin(folder, whole)));
  const hooks = linkedHooks(apart);
  const git = [...pointer, ...apart.flatMap(filesOf), ...(hooks ?? []), ...crowd];
  const startup = home === undefined ? [] : STARTUP.map((name) => join(home, name));
  const of = (kind: FrozenKind, paths: readonly string[]) =>
    [...new Set(paths.flatMap(wayOf))].map((path): FrozenFile => ({ path, kind }));
  const all = [...of("git", git), ...of("startup", startup), ...of("cinch", [join(root, OWN_FOLDER)])];
  const within = all.filter(({ path }) => path !== root && isWithin(path, root));
  // With more hooks than are looked at, any file may be the target of one.
  return hooks ? within : [...within, { path: root, kind: "git" }];
}

/** The folders of the repository in `root`, of its submodules and of its worktrees, if they are in `root`. */
export const gitFolders = (root: string): string[] => repositories(root).folders;

function repositories(root: string): { folders: string[]; isCrowded: boolean } {
  const found = new Set<string>();
  let names = 0;
  let isCrowded = false;
  const each = (folder: string, visit: (path: string) => void) => {
    for (const { name } of entriesIn(folder, MAX_NAMES)) {
      isCrowded ||= found.size > MAX_REPOSITORIES || ++names > MAX_NAMES;
      if (isCrowded) return;
      visit(join(folder, name));
    }
  };
  const add = (folder: string) => {
    const path = realPath(folder);
    if (path === undefined || found.has(path) || !isWithin(path, root) || !isFolder(path)) return;
    found.add(path);
    follow(path, join(path, "commondir"));
    each(join(path, "worktrees"), add);
    addModules(join(path, "modules"));
  };
  // The names of submodules may have slashes: a folder without a HEAD is a part of such a name.
  const addModules = (folder: string) =>
    each(folder, (path) => {
      if (isFolder(path) && isThere(join(path, "HEAD"))) add(path);
      else if (isFolder(path)) addModules(path);
    });
  const follow = (from: string, file: string) => {
    const target = readSmallText(file)?.replace(/^gitdir: */, "");
    if (target) add(resolve(from, target));
  };
  const git = join(root, ".git");
  if (isFolder(realPath(git) ?? git)) add(git);
  else follow(root, git);
  return { folders: [...found], isCrowded };
}

const filesOf = (folder: string): string[] => [GIT_FOLDER, ...GIT_FILES].map((name) => join(folder, name));

/** The hooks of these repositories that are links. `undefined`: there are too many. */
function linkedHooks(folders: readonly string[]): string[] | undefined {
  const linked: string[] = [];
  let left = MAX_HOOKS;
  for (const folder of folders) {
    const hooks = join(folder, GIT_FOLDER);
    const entries = entriesIn(hooks, left);
    left -= entries.length;
    linked.push(...entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(hooks, name)));
    if (left < 0 || linked.length > MAX_NAMES) return undefined;
  }
  return linked;
}

/** At most one more than `most`. Empty if there is no such folder. */
function entriesIn(folder: string, most: number): Dirent[] {
  const found: Dirent[] = [];
  try {
    const entries = opendirSync(folder);
    try {
      for (let entry = entries.readSync(); entry && found.length <= most; entry = entries.readSync()) found.push(entry);
    } finally {
      entries.closeSync();
    }
  } catch {
    return found;
  }
  return found;
}

const { O_RDONLY, O_NONBLOCK } = constants;

/** The trimmed text of a small file. Does not block on a pipe that a command may have put in its place. */
export function readSmallText(file: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, O_RDONLY | O_NONBLOCK);
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= MAX_TEXT_BYTES ? readFileSync(fd, "utf8").trim() : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
