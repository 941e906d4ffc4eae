import type { FileChange, FileReach, FileRestore, RewoundFile } from "@cinch/core";
import type { Backend, Stat } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { keep, KEPT_BYTES, type Kept } from "../tools/contents.ts";
import { LINK } from "./picture.ts";
import { backendReach, contentsOf, nowAt, reasonOf, type Now } from "./versions.ts";

/** So many changes are recorded together, before they are made together. What they replace is in memory meanwhile. */
const TOGETHER = 16;

/** Where files are, and who is told what became of them. */
export interface Ground {
  backend: Backend;
  wrote(path: string, hash: string | null): void;
}

/** Makes files what they were. What was made in the meantime goes first: it may stand where something else was. */
export async function restoreAll(
  ground: Ground,
  files: readonly FileRestore[],
  reach: FileReach,
): Promise<RewoundFile[]> {
  const [made, lost] = [files.filter(({ to }) => !to), files.filter(({ to }) => to)];
  return [...(await restoreEach(ground, made, reach)), ...(await restoreEach(ground, lost, reach))];
}

async function restoreEach(ground: Ground, files: readonly FileRestore[], reach: FileReach): Promise<RewoundFile[]> {
  const done: RewoundFile[] = [];
  for (let at = 0; at < files.length; at += TOGETHER) {
    reach.signal?.throwIfAborted();
    const found = await Promise.all(
      files.slice(at, at + TOGETHER).map((file) => {
        return consider(ground.backend, file, reach).catch((error: unknown) => failed(file, reasonOf(error)));
      }),
    );
    done.push(...found.filter((one): one is RewoundFile => "outcome" in one));
    const due = found.filter((one): one is Due => !("outcome" in one));
    if (due.length === 0) continue;
    const blobs = due.flatMap(({ kept }) => kept?.blobs ?? []);
    await reach.files.record(() => due.map(changeOf), blobs);
    done.push(...(await Promise.all(due.map((one) => restoreOne(ground, one, reach)))));
  }
  return done;
}

interface Due {
  file: FileRestore;
  stat: Stat | null;
  /** What it holds now is kept too: nobody loses anything by going back. */
  kept: Kept | null;
}

async function consider(backend: Backend, file: FileRestore, reach: FileReach): Promise<Due | RewoundFile> {
  const place = backendReach(reach);
  const now = await nowAt(backend, file.path, place);
  if (isThere(file, now)) return ended(file);
  if (!mayBecome(file, now)) return conflict(file);
  const { stat } = now;
  if (stat?.type !== "file") return { file, stat, kept: null };
  const kept = await keep(backend.read(file.path, {}, place), { whole: stat.size <= KEPT_BYTES });
  return { file, stat, kept };
}

/** Already what it was: this is done for the second time, or the journal was where it lived. */
const isThere = ({ to }: FileRestore, { hash }: Now): boolean => hash === (to?.hash ?? null);

/** Whether it is what it was when this was decided. A directory that stands in the way of a file goes if nothing is in it. */
const mayBecome = ({ from }: FileRestore, { stat, hash }: Now): boolean =>
  stat?.type === "directory" ? from === null : hash === from;

function changeOf({ file: { path, to, seen, rewound = false }, stat, kept }: Due): FileChange {
  const mode = stat?.mode === undefined ? {} : { mode: stat.mode };
  const before = kept && { ...kept.version, ...mode };
  // What the thread had seen is what is there again.
  const version = seen && to ? { version: to.hash } : {};
  return { path, operation: "restore", before, after: to, rewound, ...version };
}

async function restoreOne({ backend, wrote }: Ground, due: Due, reach: FileReach): Promise<RewoundFile> {
  const { file, stat } = due;
  const { path, to } = file;
  const place = backendReach(reach);
  try {
    if (stat?.type === "directory") await backend.delete(path, place, { ifEmpty: true });
    // A link goes itself, and what it leads to stays.
    if (file.from === LINK) await backend.delete(path, place, { ifLink: true });
    const isFile = stat?.type === "file";
    if (to) {
      const mode = to.mode === undefined ? {} : { mode: to.mode };
      const options = { ifVersion: isFile ? stat.version : null, ...mode };
      await backend.write(path, contentsOf(to, reach), options, place);
    } else if (isFile) await backend.delete(path, place, { ifVersion: stat.version });
    wrote(path, to?.hash ?? null);
    return ended(file);
  } catch (error) {
    const { version: _, ...change } = changeOf(due);
    await reach.files.record(() => [{ ...change, after: change.before }]);
    return error instanceof FileError && error.problem === "changed" ? conflict(file) : failed(file, reasonOf(error));
  }
}

const ended = ({ path, to }: FileRestore): RewoundFile => ({ path, outcome: to ? "restored" : "deleted" });
const failed = ({ path }: FileRestore, detail: string): RewoundFile => ({ path, outcome: "failed", detail });
const conflict = ({ path }: FileRestore): RewoundFile => ({
  path,
  outcome: "conflict",
  detail: "Somebody else has changed it in the meantime.",
});
