import { CinchError } from "@cinch/core";
import type { WorkspaceHost } from "@cinch/core/workspace";
import type {
  Backend,
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
} from "../backend.ts";
import { namesInside, sightsOf, writeEach } from "./bulk.ts";
import { checkConfig } from "../config.ts";
import { FileError, fileError, retold } from "../file-error.ts";
import { below } from "../glob/index.ts";
import { isWithin, joinPath, joinPaths, namesOf, relativeTo, virtualPath } from "../paths.ts";
import { Batches } from "../search/index.ts";
import { fileFilter, patternOf } from "../search/plan.ts";

export interface CompositeOptions {
  /** Serves every path without a route. */
  default: Backend;
  /** Backends by the path that is their "/". */
  routes: Record<string, Backend>;
}

/**
 * Several backends under one root: the longest matching route serves a path. A route always exists as a directory. It can't be deleted,
 * nor can the directories above it. It hides the files that the backend above has at its path.
 */
export function compositeBackend(options: CompositeOptions): Backend {
  checkConfig("compositeBackend", options);
  const { default: rest, routes } = options;
  const given = Object.entries(routes).map(([path, backend]) => routeTo(routePath(path), backend));
  const paths = given.map(({ path }) => path);
  const twice = paths.find((path, at) => paths.indexOf(path) !== at);
  if (twice) throw new CinchError("INVALID_CONFIG", `Two routes of a compositeBackend have the path "${twice}".`);
  const longestFirst = given.toSorted((a, b) => b.path.length - a.path.length);
  return new CompositeBackend([...longestFirst, routeTo("/", rest)]);
}

function routePath(given: string): string {
  try {
    const path = virtualPath(given);
    if (given.startsWith("/") && path !== "/") return path;
  } catch (error) {
    throw new CinchError("INVALID_CONFIG", `The route "${given}" of a compositeBackend is no path.`, error);
  }
  throw new CinchError("INVALID_CONFIG", `A route of a compositeBackend is a path below "/", not "${given}".`);
}

type Route = ReturnType<typeof routeTo>;

/** A backend and the path that is its root. */
function routeTo(path: string, backend: Backend) {
  const inner = (outside: string): string => `/${relativeTo(path, outside)}`;
  const outer = (inside: string): string => joinPaths(path, inside);
  const outerError = <E>(error: E): E => retold(error, outer) as E;
  const entry = <E extends Entry>(one: E): E => {
    const moved = { ...one, path: outer(one.path) };
    return one.target === undefined ? moved : { ...moved, target: outer(one.target) };
  };
  const sight = (one: Sight): Sight => {
    const at = { path: outer(one.path) };
    if (one.kind === "file") return { ...at, kind: "file", file: entry(one.file) };
    if (one.kind === "blocked") return { ...at, kind: "blocked", by: outer(one.by) };
    return one.kind === "failed" ? { ...at, kind: "failed", error: outerError(one.error) } : { ...one, ...at };
  };
  const call = async <T>(work: (to: Backend) => Promise<T>): Promise<T> => {
    try {
      return await work(backend);
    } catch (error) {
      throw outerError(error);
    }
  };
  const stream = async function* <T>(work: (to: Backend) => AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* work(backend);
    } catch (error) {
      throw outerError(error);
    }
  };
  return { path, backend, inner, outer, outerError, entry, sight, call, stream };
}

class CompositeBackend implements Backend {
  /** Longest path first; the last is "/". */
  readonly #routes: readonly Route[];

  constructor(routes: readonly Route[]) {
    this.#routes = routes;
  }

  get isLocal(): boolean {
    return this.#routes.some(({ backend }) => backend.isLocal);
  }

  readonly list: Backend["list"] = async (path, reach) => {
    const route = this.#at(path);
    const names = this.#routeNames(path);
    const own = await route
      .call((backend) => backend.list(route.inner(path), reach))
      .catch((error: unknown) => {
        if (names.length > 0 && isNothing(error)) return [];
        throw error;
      });
    const entries = own.map(route.entry).filter((entry) => !names.includes(relativeTo(path, entry.path)));
    const routed = names.map(async (name): Promise<Entry> => {
      const { version: _, ...entry } = await this.#directory(joinPath(path, name), reach);
      return entry;
    });
    return [...entries, ...(await Promise.all(routed))];
  };

  readonly stat: Backend["stat"] = async (path, reach) => {
    if (this.#routesBelow(path).length > 0) return this.#directory(path, reach);
    const route = this.#at(path);
    const stat = await route.call((backend) => backend.stat(route.inner(path), reach));
    return stat && route.entry(stat);
  };

  async *read(path: string, range: Range, reach: Reach): AsyncGenerator<Uint8Array> {
    if (this.#routesBelow(path).length > 0) throw fileError("is_a_directory", path);
    const route = this.#at(path);
    yield* route.stream((backend) => backend.read(route.inner(path), range, reach));
  }

  readonly write: Backend["write"] = async (path, content, options, reach) => {
    if (this.#routesBelow(path).length > 0) throw fileError("is_a_directory", path);
    const route = this.#at(path);
    return route.entry(await route.call((backend) => backend.write(route.inner(path), content, options, reach)));
  };

  readonly delete: Backend["delete"] = async (path, reach, options) => {
    const [kept] = this.#routesBelow(path);
    if (path === "/") throw fileError("denied", path, "the root can't be deleted. Delete what is in it.");
    if (kept)
      throw fileError("denied", path, `${kept.path} always exists, so this can't be deleted. Delete what is in it.`);
    const route = this.#at(path);
    await route.call((backend) => backend.delete(route.inner(path), reach, options));
  };

  readonly glob: Backend["glob"] = (query, reach) => new Batches(this.#glob(query, reach));

  async *#glob(query: GlobQuery, reach: Reach): AsyncGenerator<Entry[]> {
    const matcher = patternOf(query.pattern, query.path);
    const from = query.pattern.startsWith("/") ? "/" : query.path;
    for (const { route, path } of this.#places(query.path)) {
      // The backend of a route gets the rest of the pattern. If the pattern splits in several ways, each may find the same file.
      const patterns = below(query.pattern, namesOf(relativeTo(from, path)));
      const seen = new Set<string>();
      for (const pattern of patterns) {
        const inner = { pattern, path: route.inner(path) };
        for await (const found of this.#found(route, path, (backend) => backend.glob(inner, reach))) {
          const ours = found
            .map(route.entry)
            .filter((entry) => this.#at(entry.path) === route && matcher.matches(relativeTo(from, entry.path)))
            .filter((entry) => !seen.has(entry.path));
          if (patterns.length > 1) for (const entry of ours) seen.add(entry.path);
          yield ours;
        }
      }
    }
  }

  readonly grep: Backend["grep"] = (query, reach) => new Batches(this.#grep(query, reach));

  async *#grep(query: GrepQuery, reach: Reach): AsyncGenerator<GrepMatch[]> {
    const fits = query.glob === undefined ? () => true : fileFilter(query.glob, query.path);
    for (const { route, path } of this.#places(query.path)) {
      // A pattern for names means the same everywhere. Any other is matched here, against whole paths.
      const { glob = "/", ...rest } = query;
      const inner = { ...(glob.includes("/") ? rest : query), path: route.inner(path) };
      for await (const found of this.#found(route, path, (backend) => backend.grep(inner, reach))) {
        const matches = found.map((match) => ({ ...match, path: route.outer(match.path) }));
        yield matches.filter((match) => this.#at(match.path) === route && fits(match.path));
      }
    }
  }

  async *tree(reach: Reach): AsyncGenerator<TreeFile> {
    for (const route of this.#routes) {
      if (!route.backend.tree) continue;
      for await (const file of route.stream((backend) => backend.tree!(reach))) {
        const outer = route.entry(file);
        if (this.#at(outer.path) === route) yield outer;
      }
    }
  }

  async *look(paths: readonly string[], reach: Reach): AsyncGenerator<Sight> {
    const isRoute = (path: string) => this.#routesBelow(path).length > 0;
    for (const path of paths.filter(isRoute)) yield { path, kind: "directory" };
    const others = paths.filter((path) => !isRoute(path));
    for (const [route, some] of Map.groupBy(others, (path) => this.#at(path))) {
      const inner = some.map(route.inner);
      for await (const sight of route.stream((backend) => sightsOf(backend, inner, reach))) yield route.sight(sight);
    }
  }

  async *inside(path: string, reach: Reach): AsyncGenerator<string> {
    for (const { route, path: from } of this.#places(path)) {
      const inner = route.inner(from);
      for await (const found of this.#found(route, from, (backend) => namesInside(backend, inner, reach)))
        yield* found.map(route.outer).filter((outer) => this.#at(outer) === route);
    }
  }

  async writeAll(files: readonly SmallWrite[], reach: Reach): Promise<(Error | null)[]> {
    const done = new Map<SmallWrite, Error | null>();
    for (const [route, some] of Map.groupBy(files, ({ path }) => this.#at(path))) {
      const inner = some.map((file) => ({ ...file, path: route.inner(file.path) }));
      const errors = await route.call((backend) => writeEach(backend, inner, reach));
      for (const [at, error] of errors.entries()) done.set(some[at]!, error && route.outerError(error));
    }
    return files.map((file) => done.get(file) ?? null);
  }

  async resolve(path: string, reach: Reach): Promise<string> {
    const route = this.#at(path);
    return route.call(async (backend) => {
      const inner = route.inner(path);
      return route.outer((await backend.resolve?.(inner, reach)) ?? inner);
    });
  }

  async whereIs(real: string): Promise<string[]> {
    const places = this.#routes.map(async (route) => {
      const inner = (await route.backend.whereIs?.(real)) ?? [];
      return inner.map(route.outer).filter((path) => this.#at(path) === route);
    });
    return (await Promise.all(places)).flat();
  }

  async open(host: WorkspaceHost): Promise<void> {
    await Promise.all(Array.from(this.#backends, (backend) => backend.open?.(host)));
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#backends, (backend) => backend.close?.()));
  }

  /** Each once: a backend may have several routes. */
  get #backends(): Set<Backend> {
    return new Set(this.#routes.map(({ backend }) => backend));
  }

  #at(path: string): Route {
    return this.#routes.find((route) => isWithin(path, route.path))!;
  }

  #routesBelow(path: string): Route[] {
    return this.#routes.filter((route) => route.path !== "/" && isWithin(route.path, path));
  }

  /** The names in a directory that exist because of routes. */
  #routeNames(path: string): string[] {
    const further = this.#routesBelow(path).filter((route) => route.path !== path);
    return [...new Set(further.map((route) => namesOf(relativeTo(path, route.path))[0]!))];
  }

  /** The routes that serve files below a path, and where each of them begins. */
  #places(path: string): { route: Route; path: string }[] {
    const owner = this.#at(path);
    const further = this.#routesBelow(path).filter((route) => route !== owner);
    return [{ route: owner, path }, ...further.map((route) => ({ route, path: route.path }))];
  }

  /** The results of one backend; none if the path exists only because of a route. */
  async *#found<T>(
    route: Route,
    path: string,
    work: (backend: Backend) => AsyncIterable<T>,
  ): AsyncGenerator<readonly T[]> {
    try {
      yield* route.stream((backend) => Batches.of(work(backend)));
    } catch (error) {
      if (!isNothing(error) || this.#routeNames(path).length === 0) throw error;
    }
  }

  async #directory(path: string, reach: Reach): Promise<Stat> {
    const route = this.#at(path);
    const stat = await route.call((backend) => backend.stat(route.inner(path), reach));
    if (stat?.type === "directory") return route.entry(stat);
    return { path, type: "directory", size: 0, modified: 0, version: "route" };
  }
}

const isNothing = (error: unknown): boolean =>
  error instanceof FileError && (error.problem === "not_found" || error.problem === "not_a_directory");
