import { createInterface } from "node:readline/promises";
import type { DeleteThreadOptions } from "../cli-command.ts";
import { ExitCode, UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import { findThread } from "./find-thread.ts";
import { withDatabase } from "./open-store.ts";

/** `cinch threads delete`. Asks in a terminal, unless `--yes` is given. */
export async function deleteThreadCommand({ db, id, yes }: DeleteThreadOptions): Promise<number> {
  return withDatabase({ db }, async ({ store, path }) => {
    const thread = await findThread(store, { id, path });
    const name = `${thread.id}  ${short(thread.title, 60)}`;
    if (!yes && !(await isConfirmed(name, thread.id))) {
      process.stderr.write("Nothing was deleted.\n");
      return ExitCode.aborted;
    }
    await store.deleteThread(thread.id);
    process.stderr.write(`deleted ${name}\n`);
    return ExitCode.complete;
  });
}

async function isConfirmed(name: string, id: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError(`A deleted thread can't be restored. To delete it: ${cinch} threads delete ${id} --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Delete ${name} for good? y / n  `);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    // Ctrl-C or Ctrl-D.
    if (error instanceof Error && error.name === "AbortError") return false;
    throw error;
  } finally {
    terminal.close();
  }
}
