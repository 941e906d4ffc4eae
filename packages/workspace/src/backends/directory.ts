import { setTimeout as sleep } from "node:timers/promises";
import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import type { Backend, Entry, Range, Reach, Sight, SmallWrite, Stat, TreeFile } from "../backend.ts";
import { writePlainly } from "./bulk.ts";
import { checkConfig } from "../config.ts";
import { mapConcurrently } from "../disk/at-once.ts";
import { Subtree } from "../disk/search/subtree.ts";
import { Disk, type Links, type Located } from "../disk/disk.ts";
import { diskError, onDisk } from "../disk/disk-error.ts";
import { realPathOf } from "../disk/on-disk.ts";
import { entryOf, kindOf, type Confinement, type Folder } from "../disk/folder.ts";
import { readSmall } from "../disk/read-small.ts";
import { lookInside } from "../disk/look-inside.ts";
import { writeSmall } from "../disk/write/write-small.ts";
import { filesInside, notTheRoot, remove, removeEmpty, removeLink } from "../disk/write/remove.ts";
import { globDisk, grepDisk, type SearchOptions } from "../disk/search/disk-search.ts";
import { checkNotTemporary, isTemporary, sweep } from "../disk/temporary.ts";
import { isCoarse, msUntilSettled, timesOf, diskVersion } from "../disk/disk-version.ts";
import { notAFile, writeFile } from "../disk/write/write-file.ts";
import { FileError, fileError } from "../file-error.ts";
import { isUsableName, isWithin, joinPath, nameOf, namesOf, parentOf, relativeTo, virtualPath } from "../paths.ts";
import { Batches, beginningOf, walk, type Walkable } from "../search/index.ts";
import { EVERYTHING } from "../search/plan.ts";
import { wholeRange } from "./byte-range.ts";

export interface DirectoryOptions {
  /** The folder behind "/". May be a link. */
  root: string;
  /** Default: the best that the machine supports. */
  confinement?: Confinement;
}

/**
 * A folder of the machine. No path or link escapes it, even while another process moves files: see `Confinement`. Links inside the
 * folder work; only regular files are files.
 *
 * Not prevented: hard links inside to files outside (they are read; a write replaces the link, not the file), and mounts inside. Of two
 * processes that write one file at the same moment, both may succeed with the same `ifVersion`.
 */
export function directoryBackend(options: DirectoryOptions): DirectoryBackend {
  checkConfig("directoryBackend", options);
  const { root, confinement } = options;
  return new DirectoryBackend(new Disk(root, confinement));
}

const CHUNK_BYTES = 256 * 1024;
const SMALL_CHUNK_BYTES = 4 * 1024;

export class DirectoryBackend implements Backend {
  readonly isLocal = true;
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  get root(): string {
    return this.#disk.root;
  }

  confinement(): Promise<Confinement> {
    return this.#disk.confinement();
  }

  readonly list: Backend["list"] = (path, reach) =>
    onDisk(path, async () => {
      await using located = await this.#locate(path, reach);
      const folder = located.enter(path);
      await folder.verify();
      const names = await readdir(folder.place);
      await sweep(folder, names);
      const shown = names.filter((name) => isUsableName(name) && !isTemporary(name));
      const entries = await mapConcurrently(
        shown,
        (name) => this.#entry(folder, name, joinPath(path, name)),
        reach.signal,
      );
      return entries.filter((entry) => entry !== null);
    });

  readonly stat: Backend["stat"] = (path, reach) =>
    onDisk(path, async () => {
      const first = await this.#stat(path, reach);
      const wait = first ? msUntilSettled(first.stats) : 0;
      if (wait === 0) return first && first.stat;
      // A second change within one tick of the file system's clock would have the same version. After the wait it has another.
      await sleep(wait);
      return (await this.#stat(path, reach))?.stat ?? null;
    });

  async *read(path: string, range: Range, reach: Reach): AsyncGenerator<Uint8Array> {
    const { start, end } = wholeRange(path, range);
    await using file = await onDisk(path, () => this.#open(path, reach));
    const { size } = await onDisk(path, () => file.stat());
    for (let at = start; at < end;) {
      reach.signal?.throwIfAborted();
      // Most files are small: to allocate a large buffer for each would take most of the time.
      const most = Math.min(CHUNK_BYTES, end - at, Math.max(size - at + 1, SMALL_CHUNK_BYTES));
      const { buffer, bytesRead } = await onDisk(path, () => file.read(Buffer.allocUnsafeSlow(most), 0, most, at));
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  readonly write: Backend["write"] = (path, content, { ifVersion, mode }, reach) =>
    onDisk(path, async () => {
      this.#check(path, reach);
      const writing = { path, content, ifVersion, mode, links: linksFor(reach), signal: reach.signal };
      const { stats, version } = await writeFile(this.#disk, writing);
      return { ...entryOf(path, stats), version, mode: modeOf(stats) };
    });

  readonly delete: Backend["delete"] = (path, reach, { ifVersion, ifEmpty = false, ifLink = false } = {}) =>
    onDisk(path, async () => {
      if (path === "/") throw notTheRoot();
      await using located = await this.#locate(path, reach, { keepLast: true });
      const { found, folder, name } = located;
      const isConditional = ifEmpty || ifLink || ifVersion !== undefined;
      if (!found) throw fileError(isConditional ? "changed" : "not_found", path);
      if (ifVersion !== undefined && ifVersion !== (await diskVersion(found.stats, () => folder.hash(name, found))))
        throw fileError("changed", path);
      if (ifEmpty) return await removeEmpty(folder, name);
      if (ifLink) return await removeLink(folder, name);
      await remove(located.folder, located.name, reach.signal);
    });

  readonly glob: Backend["glob"] = (query, reach) =>
    new Batches(this.#search(query.path, reach, (manner) => globDisk(this.#disk, query, manner)));

  readonly grep: Backend["grep"] = (query, reach) =>
    new Batches(this.#search(query.path, reach, (manner) => grepDisk(this.#disk, query, manner)));

  resolve(path: string, reach: Reach): Promise<string> {
    return onDisk(path, async () => {
      await using located = await this.#locate(path, reach);
      return located.path;
    });
  }

  async *tree(reach: Reach): AsyncGenerator<TreeFile> {
    await using located = await onDisk("/", () => this.#locate("/", reach));
    const below = new Subtree(located.enter(), "/");
    const tree: Walkable<BigIntStats> = {
      children: (path) => below.childrenWithStats(path),
      beginning: (path) => beginningOf(this, path, reach),
    };
    for await (const files of walk(tree, EVERYTHING, reach.signal))
      for (const [parent, some] of Map.groupBy(files, ({ path }) => parentOf(path))) {
        // Opened once, when the first file is read: most files of a tree are known.
        await using opened = new AsyncDisposableStack();
        let folder: Promise<Folder | null> | undefined;
        const open = async () =>
          parent === "/" ? below.start : opened.use(await below.start.descend(namesOf(parent)));
        for (const { path, known } of some)
          yield treeFile(path, known!, () => this.#contents(path, (folder ??= open()), reach));
      }
  }

  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    for (const path of paths) this.#check(path, reach);
    await using root = await onDisk("/", () => this.#disk.open());
    for (const [parent, some] of Map.groupBy(paths, parentOf)) {
      reach.signal?.throwIfAborted();
      yield* lookInside(this.#disk, { root, parent, paths: some }, (path, stats, folder) =>
        treeFile(path, stats, () => this.#contents(path, folder, reach)),
      );
    }
  }

  async *inside(path: string, reach: Reach): AsyncGenerator<string> {
    try {
      await using located = await this.#locate(path, reach);
      yield* filesInside(located.enter(path));
    } catch (error) {
      throw diskError(error, path);
    }
  }

  async writeAll(files: readonly SmallWrite[], reach: Reach): Promise<(Error | null)[]> {
    for (const { path } of files) this.#check(path, reach);
    const done = new Map<SmallWrite, Error | null>();
    const left = await onDisk("/", () => writeSmall(this.#disk, files, done));
    // The first file of a missing folder creates it, so that the others can be written together.
    const first = [...new Map(left.toReversed().map((file) => [parentOf(file.path), file])).values()];
    const rest = left.filter((file) => !first.includes(file));
    for (const [at, error] of (await writePlainly(this, first, reach)).entries()) done.set(first[at]!, error);
    const last = rest.length > 0 ? await onDisk("/", () => writeSmall(this.#disk, rest, done)) : [];
    for (const [at, error] of (await writePlainly(this, last, reach)).entries()) done.set(last[at]!, error);
    return files.map((file) => done.get(file) ?? null);
  }

  async whereIs(real: string): Promise<string[]> {
    const [root, file] = await Promise.all([realPathOf(this.root), realPathOf(real)]);
    return isWithin(file, root) ? [`/${relativeTo(root, file)}`] : [];
  }

  /** `parent`: the folder of the file; `null` if it could not be opened with one call. */
  async *#contents(path: string, parent: Folder | Promise<Folder | null>, reach: Reach): AsyncGenerator<Uint8Array> {
    const folder = await parent;
    const bytes = folder && readSmall(folder, nameOf(path));
    if (bytes) yield bytes;
    else yield* this.read(path, {}, { ...reach, direct: true });
  }

  async #stat(path: string, reach: Reach): Promise<{ stat: Stat; stats: BigIntStats } | null> {
    await using located = await this.#locate(path, reach);
    const { folder, name, found } = located;
    if (!found && !located.isDirectory) return null;
    if (found?.kind === "other") throw notAFile(path);
    const stats = found ? found.stats : await folder.stats();
    const version = await diskVersion(stats, () => folder.hash(name, found!));
    return { stat: { ...entryOf(path, stats), version, mode: modeOf(stats) }, stats };
  }

  async #open(path: string, reach: Reach) {
    await using located = await this.#locate(path, reach);
    if (located.isDirectory) throw fileError("is_a_directory", path);
    if (!located.found) throw fileError("not_found", path);
    if (located.found.kind !== "file") throw notAFile(path);
    return await located.folder.open(located.name, located.found);
  }

  /** The listed entry for a name; `null` if it is a link that escapes or dangles, or not a file or directory. */
  async #entry(folder: Folder, name: string, path: string): Promise<Entry | null> {
    const stats = await lstat(folder.at(name), { bigint: true }).catch(() => null);
    const kind = stats && kindOf(stats);
    if (!stats || kind === "other") return null;
    if (kind !== "link") return entryOf(path, stats);
    try {
      await using located = await this.#disk.locate(joinPath(folder.path, name), { follow: true });
      if (located.names.length > 0 && (!located.found || located.found.kind === "other")) return null;
      const led = located.found?.stats ?? (await located.folder.stats());
      return { ...entryOf(path, led), target: located.path };
    } catch (error) {
      if (error instanceof FileError) return null;
      throw error;
    }
  }

  #locate(path: string, reach: Reach, { keepLast = false } = {}): Promise<Located> {
    this.#check(path, reach);
    return this.#disk.locate(path, { ...linksFor(reach), keepLast });
  }

  /** A path that is not normalised is a defect of the caller, and must not reach the disk. */
  #check(path: string, { signal }: Reach): void {
    signal?.throwIfAborted();
    if (virtualPath(path) !== path) throw fileError("invalid", path);
    checkNotTemporary(path);
  }

  async *#search<T>(
    path: string,
    reach: Reach,
    search: (manner: SearchOptions) => AsyncGenerator<T[]>,
  ): AsyncGenerator<T[]> {
    try {
      this.#check(path, reach);
      const beginning = (file: string) => beginningOf(this, file, reach);
      yield* search({ links: linksFor(reach), signal: reach.signal, beginning });
    } catch (error) {
      throw diskError(error, path);
    }
  }
}

const treeFile = (path: string, stats: BigIntStats, contents: TreeFile["contents"]): TreeFile => ({
  ...entryOf(path, stats),
  version: timesOf(stats),
  mode: modeOf(stats),
  link: stats.isSymbolicLink(),
  settled: msUntilSettled(stats) === 0 && !isCoarse(stats),
  touched: Number(stats.ctimeMs),
  born: Number(stats.birthtimeMs),
  identity: `${stats.dev}:${stats.ino}`,
  contents,
});

const modeOf = ({ mode }: BigIntStats): number => Number(mode & 0o777n);

const linksFor = ({ direct }: Reach): Links => ({ follow: !direct });
