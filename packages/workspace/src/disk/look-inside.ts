import { lstatSync, type BigIntStats } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sight, TreeFile } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { joinPath, nameOf, namesOf } from "../paths.ts";
import { Pace } from "../pace.ts";
import { diskError, onDisk } from "./disk-error.ts";
import { kindOf, type Folder } from "./folder.ts";
import { isCoarse, msUntilSettled, diskVersion } from "./disk-version.ts";
import { notAFile } from "./write/write-file.ts";

type FileOf = (path: string, stats: BigIntStats) => TreeFile;

/**
 * What stands under these paths of one folder. The folder is opened once, and no file is waited for: that would take longer than to look.
 */
export async function* lookInside(
  root: Folder,
  { parent, paths }: { parent: string; paths: readonly string[] },
  fileOf: FileOf,
): AsyncGenerator<Sight> {
  const folder = await onDisk(parent, () => folderAt(root, parent)).catch(expected);
  if (folder instanceof FileError) {
    for (const path of paths) yield { path, kind: "failed", error: folder };
  } else if (folder === null) {
    for (const path of paths) yield { path, kind: "nothing" };
  } else if ("by" in folder) {
    for (const path of paths) yield { path, kind: "blocked", by: folder.by };
  } else {
    try {
      for (const [path, stats] of await statsOf(folder, paths)) yield await sightOf(folder, { path, stats, fileOf });
    } finally {
      if (folder !== root) await folder[Symbol.asyncDispose]();
    }
  }
}

type Looked = BigIntStats | FileError | undefined;

async function statsOf(folder: Folder, paths: readonly string[]): Promise<Map<string, Looked>> {
  const pace = new Pace();
  const found = new Map<string, Looked>();
  await folder.verify();
  for (const path of paths) {
    found.set(path, statsAt(folder, path));
    await pace.rest();
  }
  // A change in the same tick of the clock could not be told from this one. A moment later it can.
  const fresh = [...found].flatMap(([path, one]) => {
    const wait = one && "ctimeNs" in one ? msUntilSettled(one) : 0;
    return wait > 0 ? [{ path, wait }] : [];
  });
  if (fresh.length > 0) await sleep(fresh.reduce((most, { wait }) => Math.max(most, wait), 0));
  for (const { path } of fresh) found.set(path, statsAt(folder, path));
  return found;
}

function statsAt(folder: Folder, path: string): Looked {
  try {
    return lstatSync(folder.at(nameOf(path)), { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    return expected(diskError(error, path));
  }
}

async function sightOf(
  folder: Folder,
  { path, stats, fileOf }: { path: string; stats: Looked; fileOf: FileOf },
): Promise<Sight> {
  if (!stats) return { path, kind: "nothing" };
  if (stats instanceof FileError) return { path, kind: "failed", error: stats };
  const kind = kindOf(stats);
  if (kind === "other") return { path, kind: "failed", error: notAFile(path) };
  if (kind !== "file") return { path, kind };
  if (!isCoarse(stats)) return { path, kind, file: fileOf(path, stats) };
  const name = nameOf(path);
  await using standing = await folder.lookAt(name);
  if (standing?.kind !== "file") return { path, kind: "nothing" };
  const version = await diskVersion(standing.stats, () => folder.hash(name, standing));
  return { path, kind, file: { ...fileOf(path, standing.stats), version } };
}

/** The directory of this path, open (the start itself, if it is that); or the first name on its way that is none; `null`: one is missing. */
async function folderAt(start: Folder, path: string): Promise<Folder | { by: string } | null> {
  const names = namesOf(path);
  if (names.length === 0) return start;
  const quick = await start.descend(names);
  if (quick) return quick;
  let folder = start;
  for (const name of names) {
    const above = folder;
    try {
      const standing = await above.lookAt(name);
      if (standing?.kind !== "directory") {
        await standing?.[Symbol.asyncDispose]();
        return standing ? { by: joinPath(above.path, name) } : null;
      }
      folder = above.enter(name, standing);
    } finally {
      if (above !== start) await above[Symbol.asyncDispose]();
    }
  }
  return folder;
}

/** Failures of files are told. Anything else is a defect. */
function expected(error: unknown): FileError {
  if (error instanceof FileError) return error;
  throw error;
}
