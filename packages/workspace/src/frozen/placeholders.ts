import { closeSync, mkdirSync, openSync, readlinkSync, realpathSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { isLink, isThere } from "../disk/on-disk.ts";
import { gitFolders } from "./frozen-files.ts";
import { GIT_FILES, GIT_FOLDER, OWN_FOLDER } from "./names.ts";

/**
 * A mount can't keep a command from creating what does not exist. So empty files and folders, which git ignores, are put in the place of
 * frozen files. Returns whether the folder of Cinch was created.
 */
export function makePlaceholders(root: string): boolean {
  for (const folder of gitFolders(root)) {
    if (isThere(join(folder, "objects"))) attempt(() => mkdirSync(join(folder, GIT_FOLDER)));
    attempt(() => closeSync(openSync(join(folder, "config.worktree"), "ax")));
  }
  return attempt(() => mkdirSync(join(root, OWN_FOLDER), { mode: 0o700 }));
}

/** Removes the folder of Cinch, unless there is something in it. */
export function removePlaceholders(root: string): void {
  attempt(() => rmdirSync(join(root, OWN_FOLDER)));
}

/** For links, and `commondir`, which mounts can't protect. The returned function undoes what a command did to them. */
export function recordLinks(root: string): () => void {
  const inGit = gitFolders(root).flatMap((folder) => [GIT_FOLDER, ...GIT_FILES].map((name) => join(folder, name)));
  const paths = [join(root, ".git"), join(root, OWN_FOLDER), ...inGit];
  const links = paths.filter((path) => isLink(path)).map((path) => ({ path, target: readlinkSync(path) }));
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

/** Whether no folder above has become a link: the path must lead to where it led before. */
function isInPlace(path: string): boolean {
  const above = dirname(path);
  return isThere(above) && realpathSync(above) === above;
}

/** Fails for what exists already, or can't be created by commands either. */
function attempt(task: () => void): boolean {
  try {
    task();
    return true;
  } catch {
    return false;
  }
}
