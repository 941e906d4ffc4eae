import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What a user typed may be secret. */
export const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** A project's own folder below `state`, by the project's real path. */
export function projectFolder(state: string, project: string): string {
  const hash = createHash("sha256").update(realPathOrSame(project)).digest("hex").slice(0, 16);
  return join(state, "projects", hash);
}

/** The path itself if there is no such file. */
export function realPathOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
}

export const makeParent = (file: string): void => makePrivateFolder(dirname(file));

/** Replaces a file as a whole: after a crash it has the old or the new contents. Only its user can read it. */
export function replacePrivateFile(file: string, contents: string): void {
  makeParent(file);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    // A file that exists would keep its mode, so the flag demands a new one.
    writeFileSync(temporary, contents, { mode: PRIVATE_FILE, flag: "wx" });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

export interface BackgroundWrite {
  done: Promise<void>;
  /** Afterwards the file has the old or the new contents, and no longer changes. */
  cancel(): void;
}

let backgroundWrites = 0;

/** As `replacePrivateFile`, without blocking the process while the disk is busy. */
export function replaceInBackground(file: string, contents: string): BackgroundWrite {
  const temporary = `${file}.${process.pid}.${++backgroundWrites}.tmp`;
  let isCancelled = false;
  const write = async (): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
    await rm(temporary, { force: true });
    try {
      if (!isCancelled) await writeFile(temporary, contents, { mode: PRIVATE_FILE, flag: "wx" });
      if (!isCancelled) await rename(temporary, file);
    } finally {
      await rm(temporary, { force: true });
    }
  };
  return {
    done: write(),
    cancel() {
      isCancelled = true;
      // A rename that has begun is over now, or fails.
      rmSync(temporary, { force: true });
    },
  };
}
