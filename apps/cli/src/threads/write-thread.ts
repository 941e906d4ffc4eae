import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import type { ExportOptions, ShowOptions } from "../cli-command.ts";
import { PRIVATE_FILE } from "../composer/private-file.ts";
import { messageOf } from "../error-message.ts";
import { ExitCode, UsageError } from "../exit.ts";
import { exportAs, exportFrom, exportText, readThread, type ThreadExport } from "../export/index.ts";
import { short } from "../terminal/sanitise.ts";
import { findThread } from "./find-thread.ts";
import { withDatabase } from "./open-store.ts";

/** `cinch threads show`. */
export async function showThread(options: ShowOptions): Promise<number> {
  const thread = await exportOf(options);
  process.stdout.write(options.json ? exportAs("json", thread) : exportText(thread));
  return ExitCode.complete;
}

/** `cinch threads export`. */
export async function exportThread(options: ExportOptions): Promise<number> {
  const { db, id, format } = options;
  const text = await withDatabase({ db }, async ({ store, path }) =>
    exportFrom(store, await findThread(store, { id, path }), format),
  );
  if (options.output === undefined) process.stdout.write(text);
  else write(options.output, text);
  return ExitCode.complete;
}

/** A thread may hold secrets, so only its owner may read the file, also one that was there. A pipe or a device stays what it is. */
function write(file: string, text: string): void {
  try {
    const descriptor = openSync(file, "w", PRIVATE_FILE);
    try {
      if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, PRIVATE_FILE);
      writeFileSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new UsageError(`${short(file, 300)} can't be written: ${messageOf(error)}`, { cause: error });
  }
}

const exportOf = ({ db, id }: { db: string | undefined; id: string }): Promise<ThreadExport> =>
  withDatabase({ db }, async ({ store, path }) => readThread(store, await findThread(store, { id, path })));
