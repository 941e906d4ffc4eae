import { accessSync, constants, lstatSync, renameSync, unlinkSync, type BigIntStats } from "node:fs";
import type { SmallWrite } from "../../backend.ts";
import { fileError } from "../../file-error.ts";
import { asError } from "../../thrown-error.ts";
import { nameOf, namesOf, parentOf } from "../../paths.ts";
import { mapConcurrently } from "../at-once.ts";
import type { Disk } from "../disk.ts";
import { diskError } from "../disk-error.ts";
import { withLock } from "./exclusive.ts";
import { kindOf, type Folder } from "../folder.ts";
import { temporaryName } from "../temporary.ts";
import { isCoarse, timesOf } from "../disk-version.ts";
import { create, throughTemporary } from "./temporary-file.ts";

/** `writeFile` for many small files, much faster: most of it is synchronous. Returns the files to be written one by one. */
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
    await mapConcurrently(some, async (file) => {
      const outcome = await writeOne(folder, `${dev}:${ino}`, file);
      if (outcome === "closer") left.push(file);
      else done.set(file, outcome);
    });
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
      if (found) accessSync(at, constants.W_OK);
      const temporary = folder.at(temporaryName());
      await throughTemporary(temporary, { content: file.content, mode: file.mode, found }, () =>
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
