import { writeFileSync } from "node:fs";
import type { ExportOptions, ShowOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { exportAs, exportText, readThread, type ThreadExport } from "../export/index.ts";
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
  const text = exportAs(options.format, await exportOf(options));
  if (options.output === undefined) process.stdout.write(text);
  // A thread may hold secrets, so only its owner may read the file.
  else writeFileSync(options.output, text, { mode: 0o600 });
  return ExitCode.complete;
}

const exportOf = ({ db, id }: { db: string | undefined; id: string }): Promise<ThreadExport> =>
  withDatabase({ db }, async ({ store, path }) => readThread(store, await findThread(store, { id, path })));
