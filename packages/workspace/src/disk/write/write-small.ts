import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fdatasync,
  fstatSync,
  futimesSync,
  linkSync,
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
import { codeOf, diskError } from "../disk-error.ts";
import { withLock } from "./exclusive.ts";
import { kindOf, type Folder } from "../folder.ts";
import { temporaryName } from "../temporary.ts";
import { isCoarse, nextTime, timesOf } from "../disk-version.ts";
import { hasNoLinks } from "./write-file.ts";

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0, W_OK } = constants;
const synced = promisify(fdatasync);

/** How many files are written before their sync is awaited. */
const TOGETHER = 16;

/**
 * `writeFile` for many small files. Each folder is opened once, and only the sync is asynchronous, which is much faster. Returns the
 * files that have to be written one by one.
 */
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
      const written = some.slice(at, at + TOGETHER).map((file) => new SmallWriting(folder, `${dev}:${ino}`, file));
      await Promise.all(written.map((one) => one.run()));
      for (const { file, outcome } of written) {
        if (outcome === "closer") left.push(file);
        else done.set(file, outcome);
      }
    }
  }
  return left;
}

class SmallWriting {
  readonly file: SmallWrite;
  readonly #folder: Folder;
  readonly #name: string;
  readonly #lock: string;
  /** `closer`: the file has to be written by `writeFile`. */
  outcome: Error | null | "closer" = null;

  constructor(folder: Folder, lock: string, file: SmallWrite) {
    this.#folder = folder;
    this.#name = nameOf(file.path);
    this.#lock = `${lock}:${this.#name}`;
    this.file = file;
  }

  async run(): Promise<void> {
    try {
      const found = this.#check();
      if (this.outcome === "closer") return;
      const { content } = this.file;
      if (content) await this.#write(content, found);
      else await withLock(this.#lock, async () => this.#delete());
    } catch (error) {
      this.outcome = asError(diskError(error, this.file.path));
    }
  }

  /** The file to replace, if it has the expected version. */
  #check(): BigIntStats | undefined {
    const { path, ifVersion } = this.file;
    const found = lstatSync(this.#at, { bigint: true, throwIfNoEntry: false });
    if (!found && ifVersion === null) return undefined;
    if (!found || ifVersion === null || kindOf(found) !== "file") throw fileError("changed", path);
    if (isCoarse(found)) this.outcome = "closer";
    else if (timesOf(found) !== ifVersion) throw fileError("changed", path);
    return found;
  }

  get #at(): string {
    return this.#folder.at(this.#name);
  }

  #delete(): void {
    this.#check();
    unlinkSync(this.#at);
  }

  async #write(content: Uint8Array, found: BigIntStats | undefined): Promise<void> {
    // As in `writeFile`: a rename needs no write permission on the file that it replaces.
    if (found) accessSync(this.#at, W_OK);
    const temporary = this.#folder.at(temporaryName());
    const fd = openSync(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, this.file.mode ?? 0o666);
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
      if (found) inherit(fd, found);
      if (this.file.mode !== undefined) fchmodSync(fd, this.file.mode);
      const time = nextTime();
      futimesSync(fd, time, time);
      // Otherwise a power loss could leave an empty file under the name.
      await synced(fd);
      await withLock(this.#lock, async () => this.#place(temporary));
    } catch (error) {
      remove(temporary);
      throw error;
    } finally {
      closeSync(fd);
    }
  }

  #place(temporary: string): void {
    this.#check();
    if (this.file.ifVersion !== null) return renameSync(temporary, this.#at);
    try {
      linkSync(temporary, this.#at);
    } catch (error) {
      if (codeOf(error) === "EEXIST") throw fileError("changed", this.file.path);
      if (!hasNoLinks(error)) throw error;
      return renameSync(temporary, this.#at);
    }
    unlinkSync(temporary);
  }
}

function inherit(fd: number, { uid, gid, mode }: BigIntStats): void {
  const now = fstatSync(fd, { bigint: true });
  if (now.uid !== uid || now.gid !== gid) {
    try {
      fchownSync(fd, Number(uid), Number(gid));
    } catch {
      // Only some processes may change the owner; otherwise it stays the writing user.
    }
  }
  fchmodSync(fd, Number(mode & 0o777n));
}

function remove(temporary: string): void {
  try {
    unlinkSync(temporary);
  } catch {
    // `sweep` removes it later.
  }
}
