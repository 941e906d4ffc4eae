import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { isRunning, processMark } from "./process-mark.ts";

/**
 * The file for the unsent text of this process at a thread. Two terminals at one thread have their own: what is typed in one does not
 * appear in the other. The newest text that a process has left is taken over.
 */
export function takeUnsentFile(folder: string, thread: string): string {
  const own = join(folder, `${thread}.${processMark()}.json`);
  const [newest] = leftFiles(folder, thread).toSorted((a, b) => b.changed - a.changed);
  if (newest) tryRename(newest.file, own);
  return own;
}

/** This process has left the thread: the text is there for the next one that enters it. */
export function leaveUnsentFile(folder: string, thread: string): void {
  const left = join(folder, `${thread}.json`);
  // Another process has left one before: this one is there when the process ends.
  if (!existsSync(left)) tryRename(join(folder, `${thread}.${processMark()}.json`), left);
}

const NAME = /^([\w-]+?)(?:\.(\d+-\d*))?\.json$/;

function leftFiles(folder: string, thread: string): { file: string; changed: number }[] {
  const bootedAt = Date.now() - uptime() * 1_000;
  return namesIn(folder).flatMap((name) => {
    const [, ofThread, mark] = NAME.exec(name) ?? [];
    if (ofThread !== thread || mark === processMark()) return [];
    const file = join(folder, name);
    const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    // Since the machine was started, another process may have got the number.
    const isLeft = mark === undefined || changed < bootedAt || !isRunning(mark);
    return isLeft ? [{ file, changed }] : [];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Without the file, or if it can't be renamed, only the copy of a text is lost. */
function tryRename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // Another process may have taken it.
  }
}
