import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gitFolders } from "./files.ts";
import { GIT_FILES, GIT_FOLDER, OWN_FOLDER } from "./names.ts";

/**
 * No mount can keep what is not there from being made. So there is something empty in its place, which means nothing to git. Says
 * whether the folder of Cinch is one that was made for this.
 */
export function holdFrozen(root: string): boolean {
  for (const folder of gitFolders(root)) {
    if (isThere(join(folder, "objects"))) attempt(() => mkdirSync(join(folder, GIT_FOLDER)));
    attempt(() => closeSync(openSync(join(folder, "config.worktree"), "ax")));
  }
  return attempt(() => mkdirSync(join(root, OWN_FOLDER), { mode: 0o700 }));
}

/** Removes the folder of Cinch again, unless there is something in it by now. */
export function releaseFrozen(root: string): void {
  attempt(() => rmdirSync(join(root, OWN_FOLDER)));
}

/**
 * A link can't be mounted on, and git takes a file of this name that is empty for a mistake. What a command did to these is undone by
 * the function that comes back.
 */
export function rememberLinks(root: string): () => void {
  const inGit = gitFolders(root).flatMap((folder) => [GIT_FOLDER, ...GIT_FILES].map((name) => join(folder, name)));
  const places = [join(root, ".git"), join(root, OWN_FOLDER), ...inGit];
  const links = places.filter((path) => isLink(path)).map((path) => ({ path, target: readlinkSync(path) }));
  const absent = inGit.filter((path) => path.endsWith("/commondir") && !isThere(path));
  return () => {
    for (const path of absent) if (isThere(path) && isInPlace(path)) rmSync(path, { recursive: true, force: true });
    for (const { path, target } of links) {
      if (!isInPlace(path) || (isLink(path) && readlinkSync(path) === target)) continue;
      rmSync(path, { recursive: true, force: true });
      symlinkSync(target, path);
    }
  };
}

/** Whether no link has come into its way since: what is undone must be what was remembered. */
function isInPlace(path: string): boolean {
  const above = dirname(path);
  return isThere(above) && realpathSync(above) === above;
}

function attempt(task: () => void): boolean {
  try {
    task();
    return true;
  } catch {
    // It is there already, or can't be made by anybody.
    return false;
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
