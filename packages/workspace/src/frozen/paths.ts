import { join } from "node:path";
import type { Backend, Reach } from "../backend.ts";
import type { Access } from "../backends/policy.ts";
import { glob } from "../glob/index.ts";
import { OUTPUT_PATH } from "../outputs.ts";
import { isWithin, joinPath, namesOf, parentOf, relativeTo } from "../paths.ts";
import { literally } from "../private-files.ts";
import type { PathRule } from "../path-rules/path-rules.ts";
import { frozenFiles, type FrozenFile, type FrozenPlaces } from "./files.ts";
import { folded, GIT_FILES, GIT_FOLDER, kindByName, OWN_FOLDER, type FrozenKind } from "./names.ts";

export interface FrozenOptions {
  permissions: readonly PathRule[];
  /** Whether what the files say is obeyed anyway. */
  trusted: boolean;
}

/** A real folder, and where in the workspace it is. */
export interface FrozenRoot extends FrozenPlaces {
  at: string;
}

interface Finding {
  kind: FrozenKind;
  /** What a rule has to spell out to be meant for it. */
  name: string;
}

/** How long what was found on the disk is used again: one deletion asks for thousands of paths. */
const FRESH_MS = 250;

const WHY: Record<FrozenKind, string> = {
  git: "git runs what it holds or names",
  startup: "it is run, or obeyed, when the user logs in or opens a shell",
  cinch: "Cinch itself obeys what is in it",
};

/** The paths of a workspace that its file tools must not write. */
export class FrozenPaths {
  readonly #options: FrozenOptions;
  #roots: readonly FrozenRoot[] = [];
  #files: readonly (FrozenFile & FrozenRoot)[] = [];
  #lookedAt = -Infinity;

  constructor(options: FrozenOptions) {
    this.#options = options;
  }

  /** Where real folders are, which is known when the workspace is open. */
  set roots(roots: readonly FrozenRoot[]) {
    this.#roots = roots;
    this.#lookedAt = -Infinity;
  }

  /** Why a path can't be written, as far as its names and the real files tell; `undefined` if it can. */
  refusal(path: string): string | undefined {
    // No file is there: outputs have a place of their own, which can only be read.
    if (isWithin(path, OUTPUT_PATH)) return undefined;
    return this.#told(path, this.#byName(path) ?? this.#byFile(path));
  }

  /** Like `refusal`, and also finds repositories by what their folders look like. */
  async refusalIn(backend: Backend, { path }: Access, reach: Reach): Promise<string | undefined> {
    return this.refusal(path) ?? this.#told(path, await bareRepository(backend, path, reach));
  }

  #byName(path: string): Finding | undefined {
    const kind = kindByName(path);
    return kind && { kind, name: kind === "git" ? ".git" : OWN_FOLDER };
  }

  /** What links lead to, and what lies in a home: known only on the disk. */
  #byFile(path: string): Finding | undefined {
    for (const { root, at, path: file, kind } of this.#look()) {
      if (!isWithin(path, at)) continue;
      const [asked, frozen] = [join(root, relativeTo(at, path)), file].map((one) => namesOf(one).map(folded));
      if (frozen!.every((name, n) => asked![n] === name)) return { kind, name: namesOf(file).at(-1)! };
    }
    return undefined;
  }

  #look(): readonly (FrozenFile & FrozenRoot)[] {
    const now = performance.now();
    if (now - this.#lookedAt < FRESH_MS) return this.#files;
    this.#lookedAt = now;
    this.#files = this.#roots.flatMap((one) => frozenFiles(one).map((file) => ({ ...one, ...file })));
    return this.#files;
  }

  #told(path: string, found: Finding | undefined): string | undefined {
    if (!found || this.#isLifted(path, found)) return undefined;
    const rule = `{ operations: ["write"], paths: [${JSON.stringify(literally(path))}], mode: "allow" }`;
    const trust = found.kind === "cinch" ? "" : ", and so does `trusted: true`";
    return `it is frozen, because ${WHY[found.kind]}. In the workspace's configuration, a path rule that names it lifts that, such as ${rule}${trust}. Do without it, or ask the user.`;
  }

  /** A rule for everything is not meant for this; one that spells it out is. What a rule denies is refused by that rule. */
  #isLifted(path: string, { kind, name }: Finding): boolean {
    const { trusted, permissions } = this.#options;
    if (trusted && kind !== "cinch") return true;
    const patterns = permissions
      .filter(({ operations, mode }) => operations.includes("write") && mode !== "deny")
      .flatMap(({ paths }) => paths);
    const spells = (pattern: string) => pattern.includes(name) || pattern.includes(literally(name));
    return patterns.some((pattern) => spells(pattern) && glob(pattern, { itself: true }).matches(path));
  }
}

/** A repository without files of its own has any name. */
async function bareRepository(backend: Backend, path: string, reach: Reach): Promise<Finding | undefined> {
  const names = namesOf(path).map(folded);
  const hooks = names.lastIndexOf(GIT_FOLDER);
  const isFile = GIT_FILES.includes(names.at(-1) ?? "");
  if (hooks < 0 && !isFile) return undefined;
  const above = (count: number) => `/${namesOf(path).slice(0, count).join("/")}`;
  const folders = [...(isFile ? [parentOf(path)] : []), ...(hooks < 0 ? [] : [above(hooks)])];
  const has = async (folder: string, name: string): Promise<boolean> =>
    (await backend.stat(joinPath(folder, name), reach).catch(() => null)) !== null;
  for (const folder of folders) {
    if (!(await has(folder, "HEAD"))) continue;
    if ((await has(folder, "objects")) || (await has(folder, "commondir")))
      return { kind: "git", name: namesOf(folder).at(-1) ?? namesOf(path).at(-1)! };
  }
  return undefined;
}
