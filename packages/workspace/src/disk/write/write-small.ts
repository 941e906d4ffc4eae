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
import { fileError } from "../../file-error.ts";
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

/** So many are written before the disk is waited for. */
const TOGETHER = 16;

/**
 * Does to small files what `writeFile` does to one. A folder is opened once, and nothing but the disk's own cache is waited for: to wait
 * for each call takes much longer than what is done. Those that it gives back have to be written one by one.
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
      const written = some.slice(at, at + TOGETHER).map((file) => new Writing(folder, `${dev}:${ino}`, file));
      await Promise.all(written.map((one) => one.run()));
      for (const { file, outcome } of written) {
        if (outcome === "closer") left.push(file);
        else done.set(file, outcome);
      }
    }
  }
  return left;
}

class Writing {
  readonly file: SmallWrite;
  readonly #folder: Folder;
  readonly #name: string;
  readonly #lock: string;
  /** `closer`: it takes a closer look. */
  outcome: Error | null | "closer" = null;

  constructor(folder: Folder, lock: string, file: SmallWrite) {
    this.#folder = folder;
    this.#name = nameOf(file.path);
    this.#lock = `${lock}:${this.#name}`;
    this.file = file;
  }

  async run(): Promise<void> {
    try {
      const standing = this.#check();
      if (this.outcome === "closer") return;
      const { content } = this.file;
      if (content) await this.#write(content, standing);
      else await withLock(this.#lock, async () => this.#delete());
    } catch (error) {
      const told = diskError(error, this.file.path);
      this.outcome = told instanceof Error ? told : new Error(String(told));
    }
  }

  /** What is to be replaced, if it is what it should be. */
  #check(): BigIntStats | undefined {
    const { path, ifVersion } = this.file;
    const standing = lstatSync(this.#at, { bigint: true, throwIfNoEntry: false });
    if (!standing && ifVersion === null) return undefined;
    if (!standing || ifVersion === null || kindOf(standing) !== "file") throw fileError("changed", path);
    if (isCoarse(standing)) this.outcome = "closer";
    else if (timesOf(standing) !== ifVersion) throw fileError("changed", path);
    return standing;
  }

  get #at(): string {
    return this.#folder.at(this.#name);
  }

  #delete(): void {
    this.#check();
    unlinkSync(this.#at);
  }

  async #write(content: Uint8Array, standing: BigIntStats | undefined): Promise<void> {
    // Putting another file in its place needs no right to write it: without this, a file that is protected would not be.
    if (standing) accessSync(this.#at, W_OK);
    const temporary = this.#folder.at(temporaryName());
    const fd = openSync(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, this.file.mode ?? 0o666);
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
      if (standing) inherit(fd, standing);
      if (this.file.mode !== undefined) fchmodSync(fd, this.file.mode);
      const time = nextTime();
      futimesSync(fd, time, time);
      // Otherwise a machine that loses its power may have the new name and nothing in it.
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
      // Only some may give a file away. Then it belongs to who wrote it.
    }
  }
  fchmodSync(fd, Number(mode & 0o777n));
}

function remove(temporary: string): void {
  try {
    unlinkSync(temporary);
  } catch {
    // It is swept away later.
  }
}
