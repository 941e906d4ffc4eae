import { lstatSync, type BigIntStats } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sight, TreeFile } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { joinPath, nameOf, namesOf } from "../paths.ts";
import { yieldIfDue } from "../contents/pace.ts";
import type { Disk } from "./disk.ts";
import { diskError, onDisk } from "./disk-error.ts";
import { kindOf, type Folder } from "./folder.ts";
import { isCoarse, msUntilSettled, diskVersion } from "./disk-version.ts";
import { notAFile } from "./write/write-file.ts";

type FileOf = (path: string, stats: BigIntStats, folder: Folder) => TreeFile;

/** What exists at these paths of one folder, which is open until the next one. Files are examined synchronously, which is much faster. */
export async function* lookInside(
  disk: Disk,
  { root, parent, paths }: { root: Folder; parent: string; paths: readonly string[] },
  fileOf: FileOf,
): AsyncGenerator<Sight> {
  await using quick = await root.descend(namesOf(parent));
  if (quick) return yield* sightsIn(quick, paths, fileOf);
  const opened = await onDisk(parent, () => disk.locate(parent, { follow: "block" })).catch(expected);
  if (opened instanceof FileError) {
    for (const path of paths) yield { path, kind: "failed", error: opened };
    return;
  }
  await using located = opened;
  if (located.isDirectory) yield* sightsIn(located.enter(), paths, fileOf);
  else if (located.found || located.blocked) {
    const by = joinPath(located.folder.path, located.name);
    for (const path of paths) yield { path, kind: "blocked", by };
  } else for (const path of paths) yield { path, kind: "nothing" };
}

async function* sightsIn(folder: Folder, paths: readonly string[], fileOf: FileOf): AsyncGenerator<Sight> {
  for (const [path, stats] of await statsOf(folder, paths)) yield await sightOf(folder, { path, stats, fileOf });
}

type Looked = BigIntStats | FileError | undefined;

async function statsOf(folder: Folder, paths: readonly string[]): Promise<Map<string, Looked>> {
  const found = new Map<string, Looked>();
  await folder.verify();
  for (const path of paths) {
    found.set(path, statsAt(folder, path));
    await yieldIfDue();
  }
  // A second change within one tick of the file system's clock would have the same version. After the wait it has another.
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
  if (!isCoarse(stats)) return { path, kind, file: fileOf(path, stats, folder) };
  const name = nameOf(path);
  await using found = await folder.lookAt(name);
  if (found?.kind !== "file") return { path, kind: "nothing" };
  const version = await diskVersion(found.stats, () => folder.hash(name, found));
  return { path, kind, file: { ...fileOf(path, found.stats, folder), version } };
}

/** Any error but a `FileError` is a defect. */
function expected(error: unknown): FileError {
  if (error instanceof FileError) return error;
  throw error;
}
