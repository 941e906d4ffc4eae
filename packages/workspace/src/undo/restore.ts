import type { FileChange, FileReach, FileRestore } from "@cinch/core/workspace";
import type { RewoundFile } from "@cinch/core";
import type { Backend, SmallWrite } from "../backend.ts";
import { writeEach } from "../backends/bulk.ts";
import { inBatches } from "../contents/batches.ts";
import { collect } from "../contents/collect.ts";
import { FileError } from "../file-error.ts";
import { errorMessage } from "../thrown-error.ts";
import { backendReach, currentFiles, storedContents, type CurrentFile } from "./current-file.ts";
import { LINK } from "./snapshot.ts";

/** Larger files are streamed, one by one. */
const SMALL_BYTES = 256 * 1024;

export interface Restoring {
  backend: Backend;
  reach: FileReach;
  /** Called for each file that was restored. `null`: it was deleted. */
  wrote(path: string, hash: string | null): void;
}

/** Deletes files before it writes others, which may need their place. */
export async function restoreAll(files: readonly FileRestore[], restoring: Restoring): Promise<RewoundFile[]> {
  const [made, lost] = [files.filter(({ to }) => !to), files.filter(({ to }) => to)];
  return [...(await restoreEach(made, restoring)), ...(await restoreEach(lost, restoring))];
}

async function restoreEach(files: readonly FileRestore[], restoring: Restoring): Promise<RewoundFile[]> {
  const { backend, reach } = restoring;
  const wanted = new Map(files.map((file) => [file.path, file]));
  const done: RewoundFile[] = [];
  const due = async function* (): AsyncGenerator<Due> {
    for await (const now of currentFiles([...wanted.keys()], { backend, reach, keeps: true })) {
      reach.signal?.throwIfAborted();
      const file = wanted.get(now.path)!;
      if ("failed" in now) done.push(failed(file, now.failed));
      else if (isRestored(file, now)) done.push(restored(file));
      else if (!isExpected(file, now)) done.push(conflict(file));
      else yield { file, now };
    }
  };
  const bytesOf = ({ now: { kept } }: Due) => kept?.blobs.reduce((sum, blob) => sum + blob.bytes.length, 0) ?? 0;
  for await (const batch of inBatches(due(), bytesOf)) done.push(...(await restoreBatch(batch, restoring)));
  return done;
}

/** A file that is to be changed, and its current contents: a later rewind may restore these. */
interface Due {
  file: FileRestore;
  now: CurrentFile;
}

/** True when the same restore runs again after a crash, or when the file lives in the journal. */
const isRestored = ({ to }: FileRestore, { hash }: CurrentFile): boolean => hash === (to?.hash ?? null);

/** Whether the file is what the rewind saw, or what an interrupted restore left: it deletes a link before it writes a file. */
function isExpected({ from }: FileRestore, { sight, hash }: CurrentFile): boolean {
  if (sight.kind === "blocked") return false;
  return hash === from || (from === LINK && sight.kind === "nothing");
}

function changeOf({ file: { path, to, seen, rewound = false }, now }: Due): FileChange {
  const before = now.kept?.version ?? null;
  // The restored contents are those that the thread has seen.
  const version = seen && to ? { version: to.hash } : {};
  return { path, operation: "restore", before, after: to, rewound, ...version };
}

/** For a change that was recorded, but failed. */
function unchanged(due: Due): FileChange {
  const { version: _, ...change } = changeOf(due);
  return { ...change, after: change.before };
}

/** Each change is in the journal before it is made. */
async function restoreBatch(due: readonly Due[], restoring: Restoring): Promise<RewoundFile[]> {
  const { files } = restoring.reach;
  await files.record(
    () => due.map(changeOf),
    due.flatMap(({ now }) => now.kept?.blobs ?? []),
  );
  const errors = await makeChanges(due, restoring);
  const undone = due.filter((one) => errors.has(one));
  if (undone.length > 0) await files.record(() => undone.map(unchanged));
  return due.map((one) => {
    const { file } = one;
    const error = errors.get(one);
    if (error instanceof FileError && error.problem === "changed") return conflict(file);
    if (error !== undefined) return failed(file, errorMessage(error));
    restoring.wrote(file.path, file.to?.hash ?? null);
    return restored(file);
  });
}

/** Returns the changes that failed, with their errors. */
async function makeChanges(due: readonly Due[], { backend, reach }: Restoring): Promise<Map<Due, unknown>> {
  const errors = new Map<Due, unknown>();
  const small: { one: Due; write: SmallWrite }[] = [];
  const change = async (one: Due) => {
    const { path, to } = one.file;
    const { sight } = one.now;
    if (sight.kind === "directory") await backend.delete(path, backendReach(reach), { ifEmpty: true });
    if (sight.kind === "link") await backend.delete(path, backendReach(reach), { ifLink: true });
    const ifVersion = sight.kind === "file" ? sight.file.version : null;
    if (!to) {
      if (ifVersion !== null) small.push({ one, write: { path, ifVersion, content: null } });
      return;
    }
    const [content, { mode }] = [storedContents(to, reach), to];
    if (to.size > SMALL_BYTES) await backend.write(path, content, { ifVersion, mode }, backendReach(reach));
    else small.push({ one, write: { path, ifVersion, content: await collect(content), mode } });
  };
  await Promise.all(due.map((one) => change(one).catch((error: unknown) => errors.set(one, error))));
  const writes = small.map(({ write }) => write);
  const failures = await writeEach(backend, writes, backendReach(reach));
  for (const [at, error] of failures.entries()) if (error) errors.set(small[at]!.one, error);
  return errors;
}

const restored = ({ path, to }: FileRestore): RewoundFile => ({ path, outcome: to ? "restored" : "deleted" });
const failed = ({ path }: FileRestore, detail: string): RewoundFile => ({ path, outcome: "failed", detail });
const conflict = ({ path }: FileRestore): RewoundFile => ({
  path,
  outcome: "conflict",
  detail: "It changed while files were being restored.",
});
