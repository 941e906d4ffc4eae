import type { Fit, Policy } from "@cinch/core";
import type { Backend, Reach } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { joinPath, joinPaths, nameOf, parentOf, relativeTo } from "../paths.ts";

/** A path as it was given and as links resolve it. Both names are judged and the stricter verdict wins, so a link is no way around a rule. */
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

  /** For a deletion: a link is deleted itself, so the last name is not resolved. */
  static async ofEntry(backend: Backend, path: string, reach: Reach): Promise<PathNames> {
    if (path === "/") return new PathNames(path, path);
    return new PathNames(path, joinPath(await resolved(backend, parentOf(path), reach), nameOf(path)));
  }

  /** The names of a path in this directory, with no further link on its way. */
  inside(path: string): PathNames {
    return new PathNames(path, joinPaths(this.real, relativeTo(this.asked, path)));
  }

  policy(policyOf: (path: string) => Policy | undefined): Policy | undefined {
    return this.each(policyOf).reduce(stricter);
  }

  fit(fitOf: (path: string) => Fit): Fit {
    return this.each(fitOf).reduce((one, other) => (one === other ? one : "some"));
  }

  /** One pattern for both names; `undefined` if either has none. */
  suggestion(suggest: (path: string) => string | undefined): string | undefined {
    const patterns = new Set(this.each(suggest));
    if (patterns.has(undefined)) return undefined;
    const [first, ...others] = [...patterns].map((pattern) => pattern!.slice(1));
    return others.length === 0 ? `/${first}` : `/{${[first, ...others].join(",")}}`;
  }

  /** For both names, or for the only one. */
  each<T>(of: (path: string) => T): T[] {
    return this.asked === this.real ? [of(this.asked)] : [of(this.asked), of(this.real)];
  }
}

/** A path that can't be resolved stays as it is: the call that uses it fails and says why. */
async function resolved(backend: Backend, path: string, reach: Reach): Promise<string> {
  try {
    return (await backend.resolve?.(path, reach)) ?? path;
  } catch (error) {
    if (error instanceof FileError) return path;
    throw error;
  }
}

/** `undefined`: no rule covers the path, so an `allow` for another name of it is not enough. */
const ORDER = ["allow", undefined, "ask", "deny"] as const;

export const stricter = (one: Policy | undefined, other: Policy | undefined): Policy | undefined =>
  ORDER.indexOf(one) >= ORDER.indexOf(other) ? one : other;
