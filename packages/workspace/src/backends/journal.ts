import { createHash, randomUUID } from "node:crypto";
import { CinchError } from "@cinch/core";
import type { Blob } from "@cinch/core/store";
import { CONTEXT_PATH } from "@cinch/core/workspace";
import type { FileJournal, FileVersion, HeldFile, HeldFiles, WorkspaceHost } from "@cinch/core/workspace";
import type { Backend, Entry, Range, Reach, Sight, Stat, TreeFile, WriteOptions } from "../backend.ts";
import { checkConfig } from "../config.ts";
import { untilAborted } from "../contents/collect.ts";
import { partsOf } from "../contents/saved-contents.ts";
import { fileError } from "../file-error.ts";
import { isWithin, joinPath, namesOf, parentOf } from "../paths.ts";
import { globFiles, grepFiles, treeFiles } from "../search/index.ts";
import { copyOf, wholeRange } from "./byte-range.ts";

const PART_BYTES = 1024 * 1024;
/** How much of a file is in memory during a write. */
const STAGE_BYTES = 8 * PART_BYTES;
/** Holds the parts of a file that is too large for one append, until it is complete. Hidden. */
const STAGING = "/.cinch-staging";

/** Files in the journal of the thread: clones have them too, and a rewind reverts them. */
export function threadBackend(): Backend {
  return new JournalBackend(({ files }) => {
    if (!files) throw new CinchError("INVALID_INPUT", "A threadBackend works in the turns of a thread only.");
    return Promise.resolve(files);
  });
}

/** Files in a journal that all threads of a resource share. */
export function storeBackend(options: { scope?: "resource" } = {}): Backend {
  checkConfig("storeBackend", options);
  let host: WorkspaceHost | undefined;
  const journals = new Map<string, Promise<FileJournal>>();
  const backend: Backend = new JournalBackend(({ resourceId }) => {
    if (!host) throw new CinchError("INVALID_INPUT", "A storeBackend works in a workspace that a harness has opened.");
    const known = journals.get(resourceId) ?? host.shared(resourceId);
    journals.set(resourceId, known);
    known.catch(() => journals.delete(resourceId));
    return known;
  });
  backend.open = async (opened) => {
    host = opened;
  };
  return backend;
}

/** What the thread, and the threads above it, have offloaded. The caller must refuse writes. Outside a turn there is nothing. */
export function offloadedTexts(): Backend {
  return new JournalBackend(async ({ files }) => ({
    held: async () => {
      const offloaded = Object.entries((await files?.offloaded()) ?? {});
      return Object.fromEntries(offloaded.map(([path, file]) => [path.slice(CONTEXT_PATH.length), file]));
    },
    blob: async (hash) => files?.blob(hash),
    record: () => Promise.resolve(false),
  }));
}

class JournalBackend implements Backend {
  readonly #journalOf: (reach: Reach) => Promise<FileJournal>;

  constructor(journalOf: (reach: Reach) => Promise<FileJournal>) {
    this.#journalOf = async (reach) => {
      reach.signal?.throwIfAborted();
      return journalOf(reach);
    };
  }

  readonly list: Backend["list"] = async (path, reach) => {
    const held = await this.#held(reach);
    if (held[path]) throw fileError("not_a_directory", path);
    const entries = childrenOf(held, path);
    if (entries.length === 0 && path !== "/") throw fileError("not_found", path);
    return entries;
  };

  readonly stat: Backend["stat"] = async (path, reach) => {
    const held = await this.#held(reach);
    const file = held[path];
    if (file) return statOf(path, file);
    const children = childrenOf(held, path);
    if (children.length === 0 && path !== "/") return null;
    const modified = Math.max(0, ...children.map((child) => child.modified));
    return { path, type: "directory", size: 0, modified, version: `${modified}` };
  };

  async *read(path: string, range: Range, reach: Reach): AsyncGenerator<Uint8Array> {
    const journal = await this.#journalOf(reach);
    const held = visible(await journal.held());
    const file = held[path];
    if (!file)
      throw fileError(childrenOf(held, path).length > 0 || path === "/" ? "is_a_directory" : "not_found", path);
    const { start, end } = wholeRange(path, range);
    let at = 0;
    for (const { blob, size } of file.version.parts ?? []) {
      if (at < end && at + size > start) {
        reach.signal?.throwIfAborted();
        const bytes = await journal.blob(blob);
        if (!bytes) throw fileError("failed", path, "its contents are missing in the store. Restore it from a backup.");
        yield copyOf(bytes, Math.max(0, start - at), Math.min(size, end - at));
      }
      at += size;
    }
    reach.signal?.throwIfAborted();
  }

  readonly write: Backend["write"] = async (path, content, options, reach) => {
    const journal = await this.#journalOf(reach);
    const check = (held: HeldFiles) => checkWrite(held, path, options);
    check(await journal.held());
    await upload(journal, { path, content: untilAborted(content, reach.signal), check });
    const file = (await journal.held())[path];
    return file ? statOf(path, file) : { path, type: "file", size: 0, modified: 0, version: "" };
  };

  readonly delete: Backend["delete"] = async (path, reach, { ifVersion, ifEmpty, ifLink } = {}) => {
    const journal = await this.#journalOf(reach);
    if (path === "/") throw fileError("denied", path, "the root can't be deleted. Delete what is in it.");
    const deleted = await journal.record((all) => {
      const file = visible(all)[path];
      // A journal has neither empty directories nor links.
      if (ifEmpty || ifLink) throw fileError("changed", path);
      if (ifVersion !== undefined && (!file || versionOf(file) !== ifVersion)) throw fileError("changed", path);
      const gone = Object.entries(visible(all)).filter(([name]) => isWithin(name, path));
      return gone.map(([name, { version }]) => {
        return { path: name, operation: "delete" as const, before: version, after: null, held: true };
      });
    });
    if (!deleted) throw fileError("not_found", path);
  };

  async *tree(reach: Reach): AsyncGenerator<TreeFile> {
    const journal = await this.#journalOf(reach);
    const held = await journal.held();
    // One snapshot of the journal: to fold it again for every file would be slow.
    const still = { held: async () => held, record: async () => false, blob: (hash: string) => journal.blob(hash) };
    yield* treeFiles(new JournalBackend(async () => still), reach);
  }

  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    const held = await this.#held(reach);
    const folders = new Set(["/"]);
    for (const path of Object.keys(held))
      for (let above = parentOf(path); !folders.has(above); above = parentOf(above)) folders.add(above);
    for (const path of paths) {
      const file = held[path];
      const contents = () => this.read(path, {}, reach);
      const by = namesOf(path)
        .map((_, at, names) => `/${names.slice(0, at).join("/")}`)
        .find((above) => held[above]);
      if (file) yield { path, kind: "file", file: { ...statOf(path, file), settled: true, contents } };
      else if (folders.has(path)) yield { path, kind: "directory" };
      else yield by === undefined ? { path, kind: "nothing" } : { path, kind: "blocked", by };
    }
  }

  readonly glob: Backend["glob"] = (query, reach) => globFiles(this, query, reach);

  readonly grep: Backend["grep"] = (query, reach) => grepFiles(this, query, reach);

  async #held(reach: Reach): Promise<HeldFiles> {
    return visible(await (await this.#journalOf(reach)).held());
  }
}

/** Writes a file into a journal in parts, in constant memory. Of many parts, those so far are moved to the store, under a hidden path. */
async function upload(
  journal: FileJournal,
  { path, content, check }: { path: string; content: AsyncIterable<Uint8Array>; check: (held: HeldFiles) => void },
): Promise<void> {
  const place = `${STAGING}/${randomUUID()}`;
  const gone = { path: place, operation: "delete" as const, before: null, after: null, held: true };
  const hash = createHash("sha256");
  const parts: NonNullable<FileVersion["parts"]> = [];
  let [blobs, size, isStaged]: [Blob[], number, boolean] = [[], 0, false];
  try {
    for await (const part of partsOf(content, PART_BYTES)) {
      hash.update(part.bytes);
      parts.push({ blob: part.hash, size: part.bytes.length });
      blobs.push(part);
      size += part.bytes.length;
      if (blobs.length * PART_BYTES < STAGE_BYTES) continue;
      const after: FileVersion = { hash: "", size, parts: [...parts] };
      const staged = { path: place, operation: "write" as const, before: null, after, held: true };
      await journal.record(() => [staged], blobs);
      [blobs, isStaged] = [[], true];
    }
    const after: FileVersion = { hash: hash.digest("hex"), size, parts };
    await journal.record((held) => {
      check(held);
      const before = held[path]?.version ?? null;
      const written = { path, operation: "write" as const, before, after, version: after.hash, held: true };
      return isStaged ? [written, gone] : [written];
    }, blobs);
  } catch (error) {
    if (isStaged) await journal.record((held) => (held[place] ? [gone] : null));
    throw error;
  }
}

function checkWrite(all: HeldFiles, path: string, { ifVersion }: WriteOptions): void {
  const held = visible(all);
  if (path === "/" || childrenOf(held, path).length > 0) throw fileError("is_a_directory", path);
  const now = held[path] ? versionOf(held[path]) : null;
  if (ifVersion !== undefined && ifVersion !== now) throw fileError("changed", path);
  for (let above = parentOf(path); above !== "/"; above = parentOf(above))
    if (held[above]) throw fileError("not_a_directory", path, "a name on its way is a file. Use another path.");
}

/** Without a prototype: a file may have the name of an object's method. */
const visible = (held: HeldFiles): HeldFiles =>
  Object.assign(
    Object.create(null) as Record<string, HeldFile>,
    Object.fromEntries(Object.entries(held).filter(([path]) => !isWithin(path, STAGING))),
  );

/** A directory exists while it has files: there are no empty ones. */
function childrenOf(held: HeldFiles, path: string): Entry[] {
  const depth = namesOf(path).length;
  const children = new Map<string, Entry>();
  for (const [name, file] of Object.entries(held)) {
    if (name === path || !isWithin(name, path)) continue;
    const names = namesOf(name);
    const child = joinPath(path, names[depth]!);
    const { at: modified, version } = file;
    if (names.length === depth + 1) children.set(child, { path: child, type: "file", size: version.size, modified });
    else {
      const known = children.get(child)?.modified ?? 0;
      children.set(child, { path: child, type: "directory", size: 0, modified: Math.max(known, modified) });
    }
  }
  return [...children.values()];
}

const statOf = (path: string, file: HeldFile): Stat => ({
  path,
  type: "file",
  size: file.version.size,
  modified: file.at,
  version: versionOf(file),
});

/** Writing the same contents again makes a new version. */
const versionOf = ({ version, seq }: HeldFile): string => `${seq}-${version.hash.slice(0, 16)}`;
