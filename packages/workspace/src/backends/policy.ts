import type { WorkspaceHost } from "@cinch/core";
import type {
  Backend,
  DeleteOptions,
  Entry,
  GlobQuery,
  GrepMatch,
  GrepQuery,
  Range,
  Reach,
  Sight,
  SmallWrite,
  Stat,
  TreeFile,
  WriteOptions,
} from "../backend.ts";
import { namesInside, sightsOf, writeEach } from "../bulk.ts";
import { checkBackend, checkConfig } from "../config.ts";
import { fileError, translateError } from "../file-error.ts";
import { isWithin, joinPath, joinPaths, nameOf, parentOf, relativeTo } from "../paths.ts";
import { Batches } from "../search/index.ts";

/** What is done to a path. `list`: its name and size are seen, and for a directory what is in it. */
export interface Access {
  operation: "list" | "read" | "write" | "delete";
  path: string;
}

export interface PolicyHooks {
  /**
   * Asked before a file is touched, for the path as it was given and for the one that it leads to; for the deletion of a directory also
   * for everything in it. To refuse, say why: the call rejects with `denied`. What list, glob and grep come upon and may not be listed
   * (directories) or read (files) is left out.
   */
  before?(access: Access, reach: Reach): string | undefined | Promise<string | undefined>;
  /** Told when it was done; of a read, when the reader is done with it. A rejection is that of the call. */
  after?(access: Access, reach: Reach): void | Promise<void>;
  /** Whether `before` could refuse to delete something below this directory. If not, it need not be walked. Left out: it could. */
  guards?(directory: string): boolean;
}

/** A backend that asks before it acts, and tells what it did. */
export function withPolicy(backend: Backend, hooks: PolicyHooks): Backend {
  checkBackend("withPolicy", backend);
  checkConfig("withPolicy", hooks);
  return new PolicyBackend(backend, hooks);
}

class PolicyBackend implements Backend {
  readonly #backend: Backend;
  readonly #hooks: PolicyHooks;

  constructor(backend: Backend, hooks: PolicyHooks) {
    this.#backend = backend;
    this.#hooks = hooks;
  }

  list(path: string, reach: Reach): Promise<Entry[]> {
    return this.#judged({ operation: "list", path }, reach, async (place) => {
      const entries = await this.#backend.list(place.real, place.reach);
      const shown = await Promise.all(entries.map((entry) => this.#shows(place, entry)));
      return entries.filter((_, at) => shown[at]).map((entry) => place.entry(entry));
    });
  }

  stat(path: string, reach: Reach): Promise<Stat | null> {
    return this.#judged({ operation: "list", path }, reach, async (place) => {
      const stat = await this.#backend.stat(place.real, place.reach);
      return stat && place.entry(stat);
    });
  }

  read(path: string, range: Range, reach: Reach): AsyncGenerator<Uint8Array> {
    return this.#stream({ operation: "read", path }, reach, (place) =>
      this.#backend.read(place.real, range, place.reach),
    );
  }

  write(path: string, content: AsyncIterable<Uint8Array>, options: WriteOptions, reach: Reach): Promise<Stat> {
    return this.#judged({ operation: "write", path }, reach, async (place) =>
      place.entry(await this.#backend.write(place.real, content, options, place.reach)),
    );
  }

  delete(path: string, reach: Reach, options?: DeleteOptions): Promise<void> {
    return this.#judged({ operation: "delete", path }, reach, async (place) => {
      await this.#checkInside(place);
      await this.#backend.delete(place.real, place.reach, options);
    });
  }

  glob(query: GlobQuery, reach: Reach): AsyncIterable<Entry> {
    const access: Access = { operation: "list", path: query.path };
    return new Batches(this.#stream(access, reach, (place) => this.#glob(place, { ...query, path: place.real })));
  }

  async *#glob(place: Place, query: GlobQuery): AsyncGenerator<Entry[]> {
    for await (const entries of Batches.of(this.#backend.glob(query, place.reach)))
      yield (await this.#shown(place, entries)).map((entry) => place.entry(entry));
  }

  grep(query: GrepQuery, reach: Reach): AsyncIterable<GrepMatch> {
    return new Batches(this.#grep(query, reach));
  }

  async *#grep(query: GrepQuery, reach: Reach): AsyncGenerator<GrepMatch[]> {
    const stat = await this.stat(query.path, reach);
    const access: Access = { operation: stat?.type === "file" ? "read" : "list", path: query.path };
    yield* this.#stream(access, reach, (place) => this.#matches(place, { ...query, path: place.real }));
  }

  async *#matches(place: Place, query: GrepQuery): AsyncGenerator<GrepMatch[]> {
    const isMoved = place.asked !== place.real;
    for await (const matches of Batches.of(this.#backend.grep(query, place.reach))) {
      const shown = await this.#shown(place, matches);
      yield isMoved ? shown.map((match) => ({ ...match, path: place.outer(match.path) })) : shown;
    }
  }

  async *tree(reach: Reach): AsyncGenerator<TreeFile> {
    const place = new Place("/", "/", reach);
    for await (const file of this.#backend.tree?.(reach) ?? []) if (await this.#shows(place, file)) yield file;
  }

  /** Judged where it stands: no link is followed. */
  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    const seen: string[] = [];
    for (const path of paths) {
      const refusal = await this.#hooks.before?.({ operation: "list", path }, reach);
      if (refusal === undefined) seen.push(path);
      else yield { path, kind: "failed", error: fileError("denied", path, refusal) };
    }
    yield* sightsOf(this.#backend, seen, reach);
  }

  inside(path: string, reach: Reach): AsyncIterable<string> {
    return namesInside(this.#backend, path, reach);
  }

  async writeAll(files: readonly SmallWrite[], reach: Reach): Promise<(Error | null)[]> {
    const refusals = new Map<SmallWrite, Error>();
    for (const file of files) {
      const operation = file.content ? "write" : "delete";
      const refusal = await this.#hooks.before?.({ operation, path: file.path }, reach);
      if (refusal !== undefined) refusals.set(file, fileError("denied", file.path, refusal));
    }
    const some = files.filter((file) => !refusals.has(file));
    const errors = await writeEach(this.#backend, some, reach);
    const outcomes = new Map(some.map((file, at) => [file, errors[at]!]));
    for (const [{ path, content }, error] of outcomes)
      if (!error) await this.#hooks.after?.({ operation: content ? "write" : "delete", path }, reach);
    return files.map((file) => refusals.get(file) ?? outcomes.get(file) ?? null);
  }

  async resolve(path: string, reach: Reach): Promise<string> {
    return (await this.#backend.resolve?.(path, reach)) ?? path;
  }

  async whereIs(real: string): Promise<string[]> {
    return (await this.#backend.whereIs?.(real)) ?? [];
  }

  async open(host: WorkspaceHost): Promise<void> {
    await this.#backend.open?.(host);
  }

  async close(): Promise<void> {
    await this.#backend.close?.();
  }

  async #judged<T>(access: Access, reach: Reach, work: (place: Place) => Promise<T>): Promise<T> {
    const place = await this.#judge(access, reach);
    try {
      const result = await work(place);
      await this.#hooks.after?.({ ...access, path: place.real }, reach);
      return result;
    } catch (error) {
      throw translateError(error, (path) => place.outer(path));
    }
  }

  async *#stream<T>(access: Access, reach: Reach, work: (place: Place) => AsyncIterable<T>): AsyncGenerator<T> {
    const place = await this.#judge(access, reach);
    let failed = false;
    try {
      yield* work(place);
    } catch (error) {
      failed = true;
      throw translateError(error, (path) => place.outer(path));
    } finally {
      if (!failed) await this.#hooks.after?.({ ...access, path: place.real }, reach);
    }
  }

  /** Where the path leads, if it may be gone to. From there on no link is followed: what was judged is what is used. */
  async #judge({ operation, path }: Access, reach: Reach): Promise<Place> {
    await this.#check({ operation, path }, path, reach);
    if (!this.#backend.resolve) return new Place(path, path, reach);
    // A link is deleted itself, so that only what is above it is resolved.
    const isDelete = operation === "delete" && path !== "/";
    const above = await this.#backend.resolve(isDelete ? parentOf(path) : path, reach);
    const real = isDelete ? joinPath(above, nameOf(path)) : above;
    if (real !== path) await this.#check({ operation, path: real }, path, reach);
    return new Place(path, real, { ...reach, direct: true });
  }

  async #check(access: Access, asked: string, reach: Reach): Promise<void> {
    const refusal = await this.#hooks.before?.(access, reach);
    if (refusal !== undefined) throw fileError("denied", asked, refusal);
  }

  /** Everything below a directory that is to be deleted; one thing that must stay keeps all of it. */
  async #checkInside({ real, reach }: Place): Promise<void> {
    if (!this.#hooks.before || this.#hooks.guards?.(real) === false) return;
    if ((await this.#backend.stat(real, reach).catch(() => null))?.type !== "directory") return;
    const waiting = [real];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      for (const entry of await this.#backend.list(path, reach)) {
        const refusal = await this.#hooks.before({ operation: "delete", path: entry.path }, reach);
        if (refusal !== undefined) throw fileError("denied", real, `${entry.path} in it must stay. ${refusal}`);
        if (entry.type === "directory" && entry.target === undefined) waiting.push(entry.path);
      }
    }
  }

  /** Those that may be seen. Lines of one file come together. */
  async #shown<T extends Seen>(place: Place, found: readonly T[]): Promise<T[]> {
    const shown: T[] = [];
    let [path, isShown] = ["", false];
    for (const one of found) {
      if (one.path !== path) {
        path = one.path;
        const answer = this.#shows(place, one);
        isShown = typeof answer === "boolean" ? answer : await answer;
      }
      if (isShown) shown.push(one);
    }
    return shown;
  }

  /** Under every path by which it may be known. At once, if those who are asked say so at once: there may be very many. */
  #shows(place: Place, { path, type, target }: Seen): boolean | Promise<boolean> {
    const { before } = this.#hooks;
    if (!before) return true;
    const operation = type === "directory" ? "list" : "read";
    const outer = place.outer(path);
    const asked = (name: string) => before.call(this.#hooks, { operation, path: name }, place.reach);
    if (outer === path && target === undefined) {
      const refusal = asked(path);
      return refusal instanceof Promise ? refusal.then((one) => one === undefined) : refusal === undefined;
    }
    const refusals = [...new Set([path, outer, target ?? path])].map(asked);
    if (!refusals.some((refusal) => refusal instanceof Promise)) return refusals.every((one) => one === undefined);
    return Promise.all(refusals).then((all) => all.every((one) => one === undefined));
  }
}

/** What was come upon; a file if it does not say what. */
type Seen = Pick<Entry, "path"> & Partial<Pick<Entry, "type" | "target">>;

/** A path as it was given, and where it leads. */
class Place {
  readonly asked: string;
  readonly real: string;
  readonly reach: Reach;

  constructor(asked: string, real: string, reach: Reach) {
    this.asked = asked;
    this.real = real;
    this.reach = reach;
  }

  /** As the caller knows it. */
  readonly outer = (path: string): string =>
    this.asked !== this.real && isWithin(path, this.real) ? joinPaths(this.asked, relativeTo(this.real, path)) : path;

  entry<E extends Entry>(entry: E): E {
    const path = this.outer(entry.path);
    return path === entry.path ? entry : { ...entry, path };
  }
}
