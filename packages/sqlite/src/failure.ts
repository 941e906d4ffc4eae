import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { ErrorCode } from "@cinch/core";
import type { Failure } from "./protocol.ts";

const PERM = 3;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;

/** Aborts a transaction in the writer. It crosses to the main thread as a `Failure`. */
export class StoreFailure extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}

/** The `code` of an error from the operating system, such as `ENOENT`; otherwise "". */
export const systemCodeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

export const isBusy = (error: unknown): boolean => {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED || code === PROTOCOL;
};

/** Maps any error to a code and a message that says what to do next. */
export function failureOf(error: unknown, path: string): Failure {
  if (error instanceof StoreFailure) {
    return { code: error.code, message: error.message, ...(error.cause ? { cause: String(error.cause) } : {}) };
  }
  const [code, message] = explain(error, path);
  return { code, message, cause: String(error) };
}

function explain(error: unknown, path: string): [ErrorCode, string] {
  // The store parses only JSON that it wrote itself.
  if (error instanceof SyntaxError) return ["CORRUPT", corruptMessage(path, "it holds broken JSON")];
  if (error instanceof Error && "syscall" in error) {
    const code = systemCodeOf(error);
    if (code === "ENOSPC") return ["STORE_FULL", fullMessage(path)];
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") return ["STORE_FAILED", notWritableMessage(path)];
    return ["STORE_FAILED", `"${path}" cannot be opened (${error.message}). Give another path.`];
  }
  switch (sqliteCode(error)) {
    case FULL:
      return ["STORE_FULL", fullMessage(path)];
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return ["STORE_BUSY", `Another program has "${path}" locked. Close that program, or try again later.`];
    case CORRUPT:
    case NOTADB:
      return ["CORRUPT", corruptMessage(path, "it is damaged or not a SQLite database")];
    case IOERR:
      return isFull(path)
        ? ["STORE_FULL", fullMessage(path)]
        : ["STORE_FAILED", `Reading or writing "${path}" failed: ${error}. Check the disk.`];
    case READONLY:
    case CANTOPEN:
    case PERM:
      return isFull(path) ? ["STORE_FULL", fullMessage(path)] : ["STORE_FAILED", notWritableMessage(path)];
    default:
      return ["STORE_FAILED", `The store "${path}" failed: ${error}`];
  }
}

const fullMessage = (path: string): string =>
  `No disk space is left for "${path}". Free some and try again. Nothing is lost, and nothing was written in part.`;

export const corruptMessage = (path: string, what: string): string =>
  `"${path}" cannot be opened: ${what}. It was not changed. Restore it from a backup, or move it and its -wal file away to start with an empty store.`;

const notWritableMessage = (path: string): string =>
  `"${path}" cannot be written. Check the permissions of the file and of its folder, or give another path.`;

export const threadNotFoundMessage = (threadId: string): string =>
  `There is no thread "${threadId}". listThreads() shows the existing ones.`;

/** When SQLite grows its shared memory or creates a file, it does not report a full disk as such. */
function isFull(path: string): boolean {
  const folder = dirname(path);
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < 64 * 1024;
}
