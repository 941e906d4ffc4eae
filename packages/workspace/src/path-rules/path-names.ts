import type { Fit, Policy } from "@cinch/core";
import type { Backend, Reach } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { joinPath, joinPaths, nameOf, parentOf, relativeTo } from "../paths.ts";

/**
 * A path under the name that was given and under the one that it leads to. Rules and patterns are held against both, and the stricter
 * wins: a link is no way around them.
 */
export class PathNames {
  readonly asked: string;
  readonly real: string;

  private constructor(asked: string, real: string) {
    this.asked = asked;
    this.real = real;
  }

  static async of(backend: Backend, path: string, reach: Reach): Promise<PathNames> {
    return new PathNames(path, await resolved(backend, path, reach));
  }

  /** Of what is deleted: a link goes, and what it leads to stays. */
  static async ofEntry(backend: Backend, path: string, reach: Reach): Promise<PathNames> {
    if (path === "/") return new PathNames(path, path);
    return new PathNames(path, joinPath(await resolved(backend, parentOf(path), reach), nameOf(path)));
  }

  /** Of something in this directory, where no link is followed any more. */
  inside(path: string): PathNames {
    return new PathNames(path, joinPaths(this.real, relativeTo(this.asked, path)));
  }

  policy(says: (path: string) => Policy | undefined): Policy | undefined {
    return this.#all(says).reduce(stricter);
  }

  /** Of two names that fit differently, one may be meant. */
  fit(fits: (path: string) => Fit): Fit {
    return this.#all(fits).reduce((one, other) => (one === other ? one : "some"));
  }

  /** One pattern for both; none if there is none for one of them. */
  suggestion(suggest: (path: string) => string | undefined): string | undefined {
    const patterns = new Set(this.#all(suggest));
    if (patterns.has(undefined)) return undefined;
    const [first, ...others] = [...patterns].map((pattern) => pattern!.slice(1));
    return others.length === 0 ? `/${first}` : `/{${[first, ...others].join(",")}}`;
  }

  #all<T>(of: (path: string) => T): T[] {
    return this.asked === this.real ? [of(this.asked)] : [of(this.asked), of(this.real)];
  }
}

/** What can't be resolved can't be used either, and whoever tries is told why. */
async function resolved(backend: Backend, path: string, reach: Reach): Promise<string> {
  try {
    return (await backend.resolve?.(path, reach)) ?? path;
  } catch (error) {
    if (error instanceof FileError) return path;
    throw error;
  }
}

const ORDER = ["allow", undefined, "ask", "deny"] as const;

/** Where the rules say nothing of one of two names, an `allow` for the other is not enough. */
const stricter = (one: Policy | undefined, other: Policy | undefined): Policy | undefined =>
  ORDER.indexOf(one) >= ORDER.indexOf(other) ? one : other;
