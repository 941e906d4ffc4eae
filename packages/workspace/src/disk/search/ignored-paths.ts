import { IGNORE_FILES, Ignores } from "../../search/ignore.ts";
import { ignoresAbove } from "../../search/index.ts";
import { joinPath, parentOf, relativeTo } from "../../paths.ts";
import type { GrepMatch } from "../../backend.ts";
import type { Subtree } from "./subtree.ts";
import type { SearchOptions } from "./disk-search.ts";

/** How many folders are scanned for ignored folders before the search. Matches in others are filtered afterwards. */
const MOST_FOLDERS = 16;
/** The fast search always skips these folders, so it can't be used if an ignore file includes them again. */
const BROUGHT_BACK = /^!.*(?:node_modules|\.git\b)/m;

/** The paths that ignore files exclude below a folder, as a walk would. ripgrep does not read ignore files: they are not trusted. */
export class IgnoredPaths {
  readonly #below: Subtree;
  readonly #beginning: SearchOptions["beginning"];
  /** By folder; `null`: the folder is excluded. */
  readonly #known = new Map<string, Promise<Ignores | null>>();

  private constructor(below: Subtree, beginning: SearchOptions["beginning"]) {
    this.#below = below;
    this.#beginning = beginning;
  }

  /** `null` if the search needs a walk: ignore files above have rules, or one includes a folder that the fast search skips. */
  static async below(below: Subtree, { beginning }: SearchOptions): Promise<IgnoredPaths | null> {
    const { path } = below;
    const above = await ignoresAbove({ beginning }, path);
    if (!above?.isEmpty) return null;
    const ignored = new IgnoredPaths(below, beginning);
    const text = await ignored.#textIn(path);
    // A folder that the query names is searched even if its own ignore file excludes its contents.
    if (BROUGHT_BACK.test(text) || (path !== "/" && text !== "")) return null;
    ignored.#known.set(path, Promise.resolve(new Ignores().within(path, text)));
    return ignored;
  }

  /** Excluded folders near the top. */
  async folders(): Promise<string[]> {
    const excluded: string[] = [];
    const top = await this.#at(this.#below.path);
    const waiting = top?.isEmpty ? [] : [this.#below.path];
    for (let looked = 0; waiting.length > 0 && looked < MOST_FOLDERS; looked++) {
      const folder = waiting.shift()!;
      const ignores = await this.#at(folder);
      for (const { name, type } of await this.#below.children(folder).catch(() => [])) {
        if (type !== "directory") continue;
        const path = joinPath(folder, name);
        if (ignores?.excludes(path, "directory")) excluded.push(relativeTo(this.#below.path, path));
        else waiting.push(path);
      }
    }
    return excluded;
  }

  async without(matches: readonly GrepMatch[]): Promise<GrepMatch[]> {
    const kept: GrepMatch[] = [];
    let [path, folder, isKept] = ["", "", false];
    let ignores: Ignores | null = null;
    for (const match of matches) {
      if (match.path !== path) {
        path = match.path;
        // Files of one folder are adjacent.
        if (parentOf(path) !== folder) ignores = await this.#at((folder = parentOf(path)));
        isKept = ignores !== null && !ignores.excludes(path, "file");
      }
      if (isKept) kept.push(match);
    }
    return kept;
  }

  #at(folder: string): Promise<Ignores | null> {
    const known = this.#known.get(folder) ?? this.#look(folder);
    this.#known.set(folder, known);
    return known;
  }

  async #look(folder: string): Promise<Ignores | null> {
    const above = await this.#at(parentOf(folder));
    if (!above || above.excludes(folder, "directory")) return null;
    return above.within(folder, await this.#textIn(folder));
  }

  async #textIn(folder: string): Promise<string> {
    const files = IGNORE_FILES.map((name) => joinPath(folder, name)).filter((path) => this.#below.hasFile(path));
    return (await Promise.all(files.map((path) => this.#beginning(path)))).join("\n").trimEnd();
  }
}
