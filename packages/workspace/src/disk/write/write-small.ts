import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  futimesSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
  type BigIntStats,
} from "node:fs";
import { promisify } from "node:util";
import type { SmallWrite } from "../../backend.ts";
import { asError, fileError } from "../../file-error.ts";
import { nameOf, namesOf, parentOf } from "../../paths.ts";
import type { Disk } from "../disk.ts";
import { diskError } from "../disk-error.ts";
import { withLock } from "./exclusive.ts";
import { kindOf, type Folder } from "../folder.ts";
import { temporaryName } from "../temporary.ts";
import { isCoarse, nextTime, timesOf } from "../disk-version.ts";
import { create, inherit } from "./temporary-file.ts";

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0, W_OK } = constants;
const synced = promisify(fdatasync);

/** How many files are written before their sync is awaited. */
const TOGETHER = 16;

/** `writeFile` for many small files, much faster: only the sync is asynchronous. Returns the files to be written one by one. */
export async function writeSmall(
  disk: Disk,
  files: readonly SmallWrite[],
  done: Map<SmallWrite, Error | null>,
): Promise<SmallWrite[]> {
  await using root = await disk.open();
  if (root.confinement !== "descriptors") return [...files];
  const left: SmallWrite[] = [];
  for (const [path, some] of Map.groupBy(files, (file) => parentOf(file.path))) {
    await using own = path === "/" ? null : await root.descend(namesOf(path));
    const folder = path === "/" ? root : own;
    if (!folder) {
      left.push(...some);
      continue;
    }
    const { dev, ino } = await folder.stats();
    for (let at = 0; at < some.length; at += TOGETHER) {
      const write = async (file: SmallWrite) => {
        const outcome = await writeOne(folder, `${dev}:${ino}`, file);
        if (outcome === "closer") left.push(file);
        else done.set(file, outcome);
      };
      await Promise.all(some.slice(at, at + TOGETHER).map(write));
    }
  }
  return left;
}

/** Returns the error, or `null`. `closer`: the file has to be written by `writeFile`. */
async function writeOne(folder: Folder, lock: string, file: SmallWrite): Promise<Error | null | "closer"> {
  const name = nameOf(file.path);
  const at = folder.at(name);
  try {
    const found = lstatSync(at, { bigint: true, throwIfNoEntry: false });
    if (found && isCoarse(found)) return "closer";
    check(found, file);
    const place = (work: () => void) =>
      withLock(`${lock}:${name}`, async () => {
        check(lstatSync(at, { bigint: true, throwIfNoEntry: false }), file);
        work();
      });
    if (!file.content) await place(() => unlinkSync(at));
    else {
      // As in `writeFile`: a rename needs no write permission on the file that it replaces.
      if (found) accessSync(at, W_OK);
      const temporary = folder.at(temporaryName());
      await fill(temporary, { content: file.content, mode: file.mode, found }, () =>
        place(() => (file.ifVersion === null ? create(temporary, at, file.path) : renameSync(temporary, at))),
      );
    }
    return null;
  } catch (error) {
    return asError(diskError(error, file.path));
  }
}

/** Throws unless the file has the expected version. */
function check(found: BigIntStats | undefined, { path, ifVersion }: SmallWrite): void {
  const isExpected = found ? kindOf(found) === "file" && timesOf(found) === ifVersion : ifVersion === null;
  if (!isExpected) throw fileError("changed", path);
}

interface Filling {
  content: Uint8Array;
  mode: number | undefined;
  found: BigIntStats | undefined;
}

/** Writes a temporary file, and removes it unless `place` succeeds. */
async function fill(temporary: string, { content, mode, found }: Filling, place: () => Promise<void>): Promise<void> {
  const fd = openSync(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode ?? 0o666);
  try {
    for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
    if (found) inherit(fd, found);
    if (mode !== undefined) fchmodSync(fd, mode);
    const time = nextTime();
    futimesSync(fd, time, time);
    // Otherwise a power loss could leave an empty file under the name.
    await synced(fd);
    await place();
  } catch (error) {
    remove(temporary);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function remove(temporary: string): void {
  try {
    unlinkSync(temporary);
  } catch {
    // `sweep` removes it later.
  }
}
