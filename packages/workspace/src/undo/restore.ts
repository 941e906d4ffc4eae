import type { FileChange, FileReach, FileRestore, RewoundFile } from "@cinch/core";
import type { Backend, SmallWrite } from "../backend.ts";
import { writeEach } from "../bulk.ts";
import { FileError } from "../file-error.ts";
import { LINK } from "./snapshot.ts";
import { backendReach, contentsOf, nowAt, reasonOf, type Now } from "./versions.ts";

/** So many changes are recorded together, before they are made together. What they replace is in memory meanwhile. */
const BATCH_FILES = 200;
const BATCH_BYTES = 16 * 1024 * 1024;
/** Larger files are written one by one, piece by piece. */
const SMALL_BYTES = 256 * 1024;

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
  const { backend } = ground;
  const wanted = new Map(files.map((file) => [file.path, file]));
  const done: RewoundFile[] = [];
  let batch: Due[] = [];
  let bytes = 0;
  const flush = async () => {
    const due = batch;
    [batch, bytes] = [[], 0];
    if (due.length > 0) done.push(...(await new Batch(ground, reach).restore(due)));
  };
  for await (const now of nowAt([...wanted.keys()], { backend, reach, keeps: true })) {
    reach.signal?.throwIfAborted();
    const file = wanted.get(now.path)!;
    if ("failed" in now) done.push(failed(file, now.failed));
    else if (isThere(file, now)) done.push(ended(file));
    else if (!mayBecome(file, now)) done.push(conflict(file));
    else {
      batch.push({ file, now });
      bytes += now.kept?.blobs.reduce((sum, blob) => sum + blob.bytes.length, 0) ?? 0;
    }
    if (batch.length >= BATCH_FILES || bytes >= BATCH_BYTES) await flush();
  }
  await flush();
  return done;
}

/** A file that is to be changed. What it holds now is kept too: nothing is lost by going back. */
interface Due {
  file: FileRestore;
  now: Now;
}

/** Already what it was: this is done for the second time, or the journal was where it lived. */
const isThere = ({ to }: FileRestore, { hash }: Now): boolean => hash === (to?.hash ?? null);

/** Whether it is what it was when this was decided, or what a restore that was cut off has left: a link goes before a file comes. */
function mayBecome({ from }: FileRestore, { sight, hash }: Now): boolean {
  if (sight.kind === "blocked") return false;
  return hash === from || (from === LINK && sight.kind === "nothing");
}

function changeOf({ file: { path, to, seen, rewound = false }, now }: Due): FileChange {
  const before = now.kept?.version ?? null;
  // What the thread had seen is what is there again.
  const version = seen && to ? { version: to.hash } : {};
  return { path, operation: "restore", before, after: to, rewound, ...version };
}

/** Each change is in the journal before it is made. */
class Batch {
  readonly #ground: Ground;
  readonly #reach: FileReach;

  constructor(ground: Ground, reach: FileReach) {
    this.#ground = ground;
    this.#reach = reach;
  }

  async restore(due: readonly Due[]): Promise<RewoundFile[]> {
    const { files } = this.#reach;
    await files.record(
      () => due.map(changeOf),
      due.flatMap(({ now }) => now.kept?.blobs ?? []),
    );
    const errors = await this.#make(due);
    const undone = due.filter((one) => errors.has(one));
    if (undone.length > 0) await files.record(() => undone.map(stillThere));
    return due.map((one) => this.#outcome(one, errors.get(one)));
  }

  /** What went wrong, by change. */
  async #make(due: readonly Due[]): Promise<Map<Due, unknown>> {
    const errors = new Map<Due, unknown>();
    const small: { one: Due; write: SmallWrite }[] = [];
    await Promise.all(
      due.map(async (one) => {
        try {
          await this.#makeRoom(one);
          const write = await this.#smallWrite(one);
          if (write) small.push({ one, write });
          else await this.#writeLarge(one);
        } catch (error) {
          errors.set(one, error);
        }
      }),
    );
    const writes = small.map(({ write }) => write);
    const failures = await writeEach(this.#ground.backend, writes, backendReach(this.#reach));
    for (const [at, error] of failures.entries()) if (error) errors.set(small[at]!.one, error);
    return errors;
  }

  /** A directory goes if there is nothing but directories in it. A link goes itself, and what it leads to stays. */
  async #makeRoom({ file: { path }, now: { sight } }: Due): Promise<void> {
    const { backend } = this.#ground;
    if (sight.kind === "directory") await backend.delete(path, backendReach(this.#reach), { ifEmpty: true });
    if (sight.kind === "link") await backend.delete(path, backendReach(this.#reach), { ifLink: true });
  }

  /** `undefined`: it is too large for that, or there is nothing left to do. */
  async #smallWrite({ file: { path, to }, now: { sight } }: Due): Promise<SmallWrite | undefined> {
    const ifVersion = sight.kind === "file" ? sight.file.version : null;
    if (!to) return ifVersion === null ? undefined : { path, ifVersion, content: null };
    if (to.size > SMALL_BYTES) return undefined;
    const chunks: Uint8Array[] = [];
    for await (const chunk of contentsOf(to, this.#reach)) chunks.push(chunk);
    const content = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    return { path, ifVersion, content, ...(to.mode === undefined ? {} : { mode: to.mode }) };
  }

  async #writeLarge({ file: { path, to }, now: { sight } }: Due): Promise<void> {
    if (!to) return;
    const mode = to.mode === undefined ? {} : { mode: to.mode };
    const options = { ifVersion: sight.kind === "file" ? sight.file.version : null, ...mode };
    await this.#ground.backend.write(path, contentsOf(to, this.#reach), options, backendReach(this.#reach));
  }

  #outcome({ file }: Due, error: unknown): RewoundFile {
    if (error === undefined) {
      this.#ground.wrote(file.path, file.to?.hash ?? null);
      return ended(file);
    }
    return error instanceof FileError && error.problem === "changed" ? conflict(file) : failed(file, reasonOf(error));
  }
}

/** Of what was recorded and did not happen. */
function stillThere(due: Due): FileChange {
  const { version: _, ...change } = changeOf(due);
  return { ...change, after: change.before };
}

const ended = ({ path, to }: FileRestore): RewoundFile => ({ path, outcome: to ? "restored" : "deleted" });
const failed = ({ path }: FileRestore, detail: string): RewoundFile => ({ path, outcome: "failed", detail });
const conflict = ({ path }: FileRestore): RewoundFile => ({
  path,
  outcome: "conflict",
  detail: "It was changed while files were restored.",
});
