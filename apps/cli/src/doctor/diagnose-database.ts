import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CinchError } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { messageOf, systemReasonOf } from "../error-message.ts";
import { short } from "../terminal/sanitise.ts";
import { formatPlural } from "../views/format.ts";
import type { Diagnosis } from "./diagnosis.ts";

const MB = 1024 * 1024;
/** A full check reads the whole file; of a larger one only the structure is checked. */
const FULL_CHECK_BYTES = 256 * MB;
const LITTLE_SPACE = 500 * MB;

/** The file of the threads: whether it can be written, is whole, opens, and has room to grow. */
export async function diagnoseDatabase(path: string): Promise<Diagnosis[]> {
  // First, because SQLite can't open a healthy file either that it can't write.
  const found = checkAccess(path) ?? (existsSync(path) ? await checkFile(path) : notYetThere(path));
  return [found, ...checkSpace(path)];
}

/** SQLite writes files beside the database, so the folder counts as much as the file. */
function checkAccess(path: string): Diagnosis | undefined {
  try {
    if (existsSync(path)) accessSync(path, constants.W_OK);
    // With the slash, a file in the place of a folder is an error.
    accessSync(`${nearestFolder(path)}/`, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const message = `${short(path, 300)} can't be written (${systemReasonOf(error)})`;
    return { area: "database", status: "fail", message, next: "make it writable, or use --db FILE" };
  }
}

const notYetThere = (path: string): Diagnosis => ({
  area: "database",
  status: "ok",
  message: `${short(path, 300)} is not there yet; the first thread makes it`,
});

async function checkFile(path: string): Promise<Diagnosis> {
  const area = "database";
  const name = short(path, 300);
  const restore = "restore it from a backup, or move it away to begin anew";
  try {
    const { problem, format } = integrityOf(path);
    if (problem !== undefined)
      return { area, status: "fail", message: `${name} is damaged: ${short(problem)}`, next: restore };
    const threads = await countThreads(path);
    const size = `${Math.max(1, Math.round(bytesOf(path) / MB))} MB`;
    const contents = `${formatPlural(threads, "thread")}, ${size}, format ${format}`;
    return { area, status: "ok", message: `${name}: ${contents}, integrity checked` };
  } catch (error) {
    const isNewer = error instanceof CinchError && error.code === "STORE_NEWER";
    const message = `${name} can't be opened: ${short(messageOf(error), 300)}`;
    return { area, status: "fail", message, next: isNewer ? "update cinch" : restore };
  }
}

function integrityOf(path: string): { problem: string | undefined; format: number } {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const check = bytesOf(path) > FULL_CHECK_BYTES ? "quick_check" : "integrity_check";
    const [found] = Object.values(db.prepare(`PRAGMA ${check}(1)`).get() ?? {});
    const { user_version: format } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    return { problem: found === "ok" ? undefined : String(found), format };
  } finally {
    db.close();
  }
}

/** Opens it as every command does, so that a file of a newer release or of another program is found out. */
async function countThreads(path: string): Promise<number> {
  const store = sqliteStore({ path });
  await store.open();
  try {
    return (await store.threads({ topLevel: true })).length;
  } finally {
    await store.close();
  }
}

const bytesOf = (path: string): number =>
  [path, `${path}-wal`].reduce((total, file) => total + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

/** The folder of the file, or the first above it that exists. */
function nearestFolder(path: string): string {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

function checkSpace(path: string): Diagnosis[] {
  const { bavail, bsize } = statfsSync(nearestFolder(path));
  const free = bavail * bsize;
  const message = `${Math.round(free / MB)} MB free on its disk`;
  if (free >= LITTLE_SPACE) return [{ area: "database", status: "ok", message }];
  return [{ area: "database", status: "warn", message, next: "free some space: threads that can't be written stop" }];
}
