import { join } from "node:path";
import { CONTEXT_PATH } from "@cinch/core/workspace";
import type { Backend, Reach } from "../backend.ts";
import { CONTEXT_IS_READ_ONLY } from "../backends/own-folders.ts";
import type { Access } from "../backends/policy.ts";
import { glob } from "../glob/index.ts";
import { OUTPUT_PATH } from "../outputs/outputs.ts";
import { isWithin, joinPath, namesOf, parentOf, relativeTo } from "../paths.ts";
import { escapeGlob } from "../path-rules/hidden-rules.ts";
import type { PathRule } from "@cinch/core/workspace";
import { frozenFiles, type FrozenFile, type FrozenFolders } from "./frozen-files.ts";
import { folded, GIT_FILES, GIT_FOLDER, kindByName, OWN_FOLDER, type FrozenKind } from "./names.ts";

export interface FrozenOptions {
  permissions: readonly PathRule[];
  /** Whether the files of the workspace are obeyed anyway. */
  trusted: boolean;
}

/** A real folder, and its path in the workspace. */
export interface FrozenRoot extends FrozenFolders {
  at: string;
}

interface FrozenMatch {
  kind: FrozenKind;
  /** The name that a rule has to contain to lift this. */
  name: string;
}

/** How long the frozen files are cached: one deletion asks for thousands of paths. */
const FRESH_MS = 250;

const WHY: Record<FrozenKind, string> = {
  git: "git runs what it holds or names",
  startup: "it is run or obeyed when the user logs in or opens a shell",
  cinch: "Cinch itself obeys what is in it",
};

/** The paths of a workspace that its file tools must not write. */
export class FrozenPaths {
  readonly #options: FrozenOptions;
  #roots: readonly FrozenRoot[] = [];
  #files: readonly (FrozenFile & FrozenRoot)[] = [];
  #cachedAt = -Infinity;

  constructor(options: FrozenOptions) {
    this.#options = options;
  }

  set roots(roots: readonly FrozenRoot[]) {
    this.#roots = roots;
    this.#cachedAt = -Infinity;
  }

  /** Why a path can't be written, by its names and the real files; `undefined` if it can. */
  refusal(path: string): string | undefined {
    // Outputs have their own backend, which is read-only.
    if (isWithin(path, OUTPUT_PATH)) return undefined;
    if (isWithin(path, CONTEXT_PATH)) return CONTEXT_IS_READ_ONLY;
    return this.#refusalFor(path, this.#byName(path) ?? this.#byFile(path));
  }

  /** Like `refusal`, but also finds bare repositories, by what is in their folders. */
  async refusalIn(backend: Backend, { path }: Access, reach: Reach): Promise<string | undefined> {
    return this.refusal(path) ?? this.#refusalFor(path, await bareRepository(backend, path, reach));
  }

  #byName(path: string): FrozenMatch | undefined {
    const kind = kindByName(path);
    return kind && { kind, name: kind === "git" ? ".git" : OWN_FOLDER };
  }

  /** Finds targets of links, and files in a home. */
  #byFile(path: string): FrozenMatch | undefined {
    for (const { root, at, path: file, kind } of this.#frozenFiles()) {
      if (!isWithin(path, at)) continue;
      const [asked, frozen] = [join(root, relativeTo(at, path)), file].map((one) => namesOf(one).map(folded));
      if (frozen!.every((name, n) => asked![n] === name)) return { kind, name: namesOf(file).at(-1)! };
    }
    return undefined;
  }

  #frozenFiles(): readonly (FrozenFile & FrozenRoot)[] {
    const now = performance.now();
    if (now - this.#cachedAt < FRESH_MS) return this.#files;
    this.#cachedAt = now;
    this.#files = this.#roots.flatMap((one) => frozenFiles(one).map((file) => ({ ...one, ...file })));
    return this.#files;
  }

  #refusalFor(path: string, found: FrozenMatch | undefined): string | undefined {
    if (!found || this.#isLifted(path, found)) return undefined;
    const rule = `{ operations: ["write"], paths: [${JSON.stringify(escapeGlob(path))}], mode: "allow" }`;
    const trust = found.kind === "cinch" ? "" : ", and so does `trusted: true`";
    return `it is frozen, because ${WHY[found.kind]}. A path rule in the configuration of the workspace that names it lifts that, such as ${rule}${trust}. Do without it, or ask the user.`;
  }

  /** Only a rule that contains the name lifts this, not a rule for everything. A path that is denied is refused by its own rule. */
  #isLifted(path: string, { kind, name }: FrozenMatch): boolean {
    const { trusted, permissions } = this.#options;
    if (trusted && kind !== "cinch") return true;
    const patterns = permissions
      .filter(({ operations, mode }) => operations.includes("write") && mode !== "deny")
      .flatMap(({ paths }) => paths);
    const spells = (pattern: string) => pattern.includes(name) || pattern.includes(escapeGlob(name));
    return patterns.some((pattern) => spells(pattern) && glob(pattern, { itself: true }).matches(path));
  }
}

async function bareRepository(backend: Backend, path: string, reach: Reach): Promise<FrozenMatch | undefined> {
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
