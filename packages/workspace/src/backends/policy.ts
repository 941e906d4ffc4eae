import type { Backend, Entry, GrepMatch, GrepQuery, Range, Reach, Sight, SmallWrite, TreeFile } from "../backend.ts";
import { entriesInside, namesInside, sightsOf, writeEach } from "./bulk.ts";
import { checkBackend, checkConfig } from "../config.ts";
import { fileError, retold } from "../file-error.ts";
import { isWithin, joinPath, joinPaths, nameOf, parentOf, relativeTo } from "../paths.ts";
import { Batches } from "../search/index.ts";
import { BackendAround } from "./backend-around.ts";

/** One use of a path. `list`: its name and size are shown, and the entries of a directory. */
export interface Access {
  operation: "list" | "read" | "write" | "delete";
  path: string;
}

export interface PolicyHooks {
  /**
   * Called before a file is touched, for the path as given and for the path after links; for the deletion of a directory also for
   * everything in it. To refuse, return the reason: the call rejects with `denied`. `list`, `glob` and `grep` omit directories that may
   * not be listed and files that may not be read.
   */
  before?(access: Access, reach: Reach): string | undefined | Promise<string | undefined>;
  /** Called when it is done; for a read, when the reader has finished. Its rejection becomes that of the call. */
  after?(access: Access, reach: Reach): void | Promise<void>;
  /** Whether `before` could refuse to delete something below this directory. If not, it is not walked. Omitted: it could. */
  guards?(directory: string): boolean;
}

/** A backend that calls hooks before and after each access. */
export function withPolicy(backend: Backend, hooks: PolicyHooks): Backend {
  checkBackend("withPolicy", backend);
  checkConfig("withPolicy", hooks);
  return new PolicyBackend(backend, hooks);
}

class PolicyBackend extends BackendAround implements Backend {
  readonly #hooks: PolicyHooks;

  constructor(backend: Backend, hooks: PolicyHooks) {
    super(backend);
    this.#hooks = hooks;
  }

  readonly list: Backend["list"] = (path, reach) =>
    this.#judged({ operation: "list", path }, reach, async (judged) => {
      const entries = await this.backend.list(judged.real, judged.reach);
      const shown = await Promise.all(entries.map((entry) => this.#shows(judged, entry)));
      return entries.filter((_, at) => shown[at]).map(judged.entry);
    });

  readonly stat: Backend["stat"] = (path, reach) =>
    this.#judged({ operation: "list", path }, reach, async (judged) => {
      const stat = await this.backend.stat(judged.real, judged.reach);
      return stat && judged.entry(stat);
    });

  read(path: string, range: Range, reach: Reach): AsyncGenerator<Uint8Array> {
    return this.#stream({ operation: "read", path }, reach, (judged) =>
      this.backend.read(judged.real, range, judged.reach),
    );
  }

  readonly write: Backend["write"] = (path, content, options, reach) =>
    this.#judged({ operation: "write", path }, reach, async (judged) =>
      judged.entry(await this.backend.write(judged.real, content, options, judged.reach)),
    );

  readonly delete: Backend["delete"] = (path, reach, options) =>
    this.#judged({ operation: "delete", path }, reach, async (judged) => {
      await this.#checkInside(judged);
      await this.backend.delete(judged.real, judged.reach, options);
    });

  readonly glob: Backend["glob"] = (query, reach) => {
    const access: Access = { operation: "list", path: query.path };
    const search = (judged: JudgedPath) => this.backend.glob({ ...query, path: judged.real }, judged.reach);
    return new Batches(this.#stream(access, reach, (judged) => this.#filtered(judged, search(judged))));
  };

  readonly grep: Backend["grep"] = (query, reach) => new Batches(this.#grep(query, reach));

  async *#grep(query: GrepQuery, reach: Reach): AsyncGenerator<GrepMatch[]> {
    const stat = await this.stat(query.path, reach);
    const access: Access = { operation: stat?.type === "file" ? "read" : "list", path: query.path };
    const search = (judged: JudgedPath) => this.backend.grep({ ...query, path: judged.real }, judged.reach);
    yield* this.#stream(access, reach, (judged) => this.#filtered(judged, search(judged)));
  }

  async *#filtered<T extends Seen>(judged: JudgedPath, found: AsyncIterable<T>): AsyncGenerator<T[]> {
    for await (const items of Batches.of(found)) yield (await this.#shown(judged, items)).map(judged.entry);
  }

  async *tree(reach: Reach): AsyncGenerator<TreeFile> {
    const judged = judgedPath("/", "/", reach);
    for await (const file of this.backend.tree?.(reach) ?? []) if (await this.#shows(judged, file)) yield file;
  }

  /** No link is followed, so the path as given is judged. */
  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    const seen: string[] = [];
    for (const path of paths) {
      const refusal = await this.#hooks.before?.({ operation: "list", path }, reach);
      if (refusal === undefined) seen.push(path);
      else yield { path, kind: "failed", error: fileError("denied", path, refusal) };
    }
    yield* sightsOf(this.backend, seen, reach);
  }

  inside(path: string, reach: Reach): AsyncIterable<string> {
    return namesInside(this.backend, path, reach);
  }

  async writeAll(files: readonly SmallWrite[], reach: Reach): Promise<(Error | null)[]> {
    const refusals = new Map<SmallWrite, Error>();
    for (const file of files) {
      const operation = file.content ? "write" : "delete";
      const refusal = await this.#hooks.before?.({ operation, path: file.path }, reach);
      if (refusal !== undefined) refusals.set(file, fileError("denied", file.path, refusal));
    }
    const some = files.filter((file) => !refusals.has(file));
    const errors = await writeEach(this.backend, some, reach);
    const outcomes = new Map(some.map((file, at) => [file, errors[at]!]));
    for (const [{ path, content }, error] of outcomes)
      if (!error) await this.#hooks.after?.({ operation: content ? "write" : "delete", path }, reach);
    return files.map((file) => refusals.get(file) ?? outcomes.get(file) ?? null);
  }

  async #judged<T>(access: Access, reach: Reach, work: (judged: JudgedPath) => Promise<T>): Promise<T> {
    const judged = await this.#judge(access, reach);
    try {
      const result = await work(judged);
      await this.#hooks.after?.({ ...access, path: judged.real }, reach);
      return result;
    } catch (error) {
      throw retold(error, judged.outer);
    }
  }

  async *#stream<T>(access: Access, reach: Reach, work: (judged: JudgedPath) => AsyncIterable<T>): AsyncGenerator<T> {
    const judged = await this.#judge(access, reach);
    let failed = false;
    try {
      yield* work(judged);
    } catch (error) {
      failed = true;
      throw retold(error, judged.outer);
    } finally {
      if (!failed) await this.#hooks.after?.({ ...access, path: judged.real }, reach);
    }
  }

  /** Resolves and judges a path. After that no link is followed, so the path that was judged is the one that is used. */
  async #judge({ operation, path }: Access, reach: Reach): Promise<JudgedPath> {
    await this.#check({ operation, path }, path, reach);
    if (!this.backend.resolve) return judgedPath(path, path, reach);
    // A link itself is deleted, so only its parent is resolved.
    const isDelete = operation === "delete" && path !== "/";
    const above = await this.backend.resolve(isDelete ? parentOf(path) : path, reach);
    const real = isDelete ? joinPath(above, nameOf(path)) : above;
    if (real !== path) await this.#check({ operation, path: real }, path, reach);
    return judgedPath(path, real, { ...reach, direct: true });
  }

  async #check(access: Access, asked: string, reach: Reach): Promise<void> {
    const refusal = await this.#hooks.before?.(access, reach);
    if (refusal !== undefined) throw fileError("denied", asked, refusal);
  }

  /** One entry that must stay keeps the whole directory. */
  async #checkInside({ real, reach }: JudgedPath): Promise<void> {
    if (!this.#hooks.before || this.#hooks.guards?.(real) === false) return;
    if ((await this.backend.stat(real, reach).catch(() => null))?.type !== "directory") return;
    for await (const { path } of entriesInside(this.backend, real, reach)) {
      const refusal = await this.#hooks.before({ operation: "delete", path }, reach);
      if (refusal === undefined) continue;
      const isHidden = (await this.#hooks.before({ operation: "list", path }, reach)) !== undefined;
      throw fileError("denied", real, `${isHidden ? "something" : path} in it must stay: ${refusal}`);
    }
  }

  /** The items that may be shown. Lines of one file are adjacent. */
  async #shown<T extends Seen>(judged: JudgedPath, found: readonly T[]): Promise<T[]> {
    const shown: T[] = [];
    let [path, isShown] = ["", false];
    for (const one of found) {
      if (one.path !== path) {
        path = one.path;
        const answer = this.#shows(judged, one);
        isShown = typeof answer === "boolean" ? answer : await answer;
      }
      if (isShown) shown.push(one);
    }
    return shown;
  }

  /** Judges every name of an entry. Synchronous if the hook is: there may be very many entries. */
  #shows(judged: JudgedPath, { path, type, target }: Seen): boolean | Promise<boolean> {
    const { before } = this.#hooks;
    if (!before) return true;
    const operation = type === "directory" ? "list" : "read";
    const outer = judged.outer(path);
    const asked = (name: string) => before.call(this.#hooks, { operation, path: name }, judged.reach);
    const names = outer === path && target === undefined ? [path] : [...new Set([path, outer, target ?? path])];
    const refusals = names.map(asked);
    if (!refusals.some((refusal) => refusal instanceof Promise)) return refusals.every((one) => one === undefined);
    return Promise.all(refusals).then((all) => all.every((one) => one === undefined));
  }
}

/** A found entry; without a type it is a file. */
type Seen = Pick<Entry, "path"> & Partial<Pick<Entry, "type" | "target">>;

type JudgedPath = ReturnType<typeof judgedPath>;

/** A path as given and after links. */
function judgedPath(asked: string, real: string, reach: Reach) {
  /** The path as the caller knows it. */
  const outer = (path: string): string =>
    asked !== real && isWithin(path, real) ? joinPaths(asked, relativeTo(real, path)) : path;
  const entry = <E extends { path: string }>(inner: E): E => {
    const path = outer(inner.path);
    return path === inner.path ? inner : { ...inner, path };
  };
  return { real, reach, outer, entry };
}
