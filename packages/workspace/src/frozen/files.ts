import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
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

/** More submodules and worktrees than these are not looked for, nor in more folders. */
const MOST = 500;
const MOST_FOLDERS = 5_000;
/** Git's files that name a folder hold nothing else. */
const TEXT_BYTES = 16 * 1024;

/** What is frozen, as far as it lies in the workspace: each file under its own path, and what it is a link to. */
export function frozenFiles({ root, home }: FrozenPlaces): FrozenFile[] {
  // Where it is no folder, it says where the folder is.
  const pointer = [join(root, ".git")].filter(isFile);
  const git = [...pointer, ...gitFolders(root).flatMap(filesOf)];
  const startup = home === undefined ? [] : STARTUP.map((name) => join(home, name));
  const of = (kind: FrozenKind, paths: readonly string[]) =>
    [...new Set(paths.flatMap((path) => [path, ...real(path)]))].map((path): FrozenFile => ({ path, kind }));
  const all = [...of("git", git), ...of("startup", startup), ...of("cinch", [join(root, OWN_FOLDER)])];
  return all.filter(({ path }) => path !== root && isWithin(path, root));
}

/** The folders of the repository in `root`, of its submodules and of its worktrees, as far as they lie in `root`. */
export function gitFolders(root: string): string[] {
  const found = new Set<string>();
  let folders = 0;
  const add = (folder: string) => {
    const [path] = real(folder);
    if (path === undefined || found.has(path) || found.size > MOST || !isWithin(path, root) || !isFolder(path)) return;
    found.add(path);
    follow(path, join(path, "commondir"));
    for (const name of namesIn(join(path, "worktrees"))) add(join(path, "worktrees", name));
    addModules(join(path, "modules"));
  };
  // One is a folder with a HEAD; the others are a part of the name of one.
  const addModules = (folder: string) => {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      if (!isFolder(path) || ++folders > MOST_FOLDERS) continue;
      if (isThere(join(path, "HEAD"))) add(path);
      else addModules(path);
    }
  };
  const follow = (from: string, file: string) => {
    const target = textOf(file)?.replace(/^gitdir: */, "");
    if (target) add(resolve(from, target));
  };
  const git = join(root, ".git");
  if (isFolder(real(git)[0] ?? git)) add(git);
  else follow(root, git);
  return [...found];
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
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
