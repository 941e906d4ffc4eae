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

/**
 * The paths that ignore files exclude below a folder, as a walk would. ripgrep does not read ignore files: they are not trusted. `null` if
 * the search needs a walk: ignore files above have rules, or one includes a folder that the fast search skips.
 */
export async function ignoredPaths(below: Subtree, { beginning }: SearchOptions) {
  /** By folder; `null`: the folder is excluded. */
  const known = new Map<string, Promise<Ignores | null>>();
  const textIn = async (folder: string): Promise<string> => {
    const files = IGNORE_FILES.map((name) => joinPath(folder, name)).filter((path) => below.hasFile(path));
    return (await Promise.all(files.map(beginning))).join("\n").trimEnd();
  };
  const look = async (folder: string): Promise<Ignores | null> => {
    const above = await ignoresIn(parentOf(folder));
    return !above || above.excludes(folder, "directory") ? null : above.within(folder, await textIn(folder));
  };
  const ignoresIn = (folder: string): Promise<Ignores | null> => {
    if (!known.has(folder)) known.set(folder, look(folder));
    return known.get(folder)!;
  };

  const above = await ignoresAbove({ beginning }, below.path);
  const text = await textIn(below.path);
  // A folder that the query names is searched even if its own ignore file excludes its contents.
  if (!above?.isEmpty || BROUGHT_BACK.test(text) || (below.path !== "/" && text !== "")) return null;
  const top = new Ignores().within(below.path, text);
  known.set(below.path, Promise.resolve(top));

  return {
    /** Excluded folders near the top. */
    async folders(): Promise<string[]> {
      const excluded: string[] = [];
      const waiting = top.isEmpty ? [] : [below.path];
      for (let looked = 0; waiting.length > 0 && looked < MOST_FOLDERS; looked++) {
        const folder = waiting.shift()!;
        const ignores = await ignoresIn(folder);
        for (const { name, type } of await below.children(folder).catch(() => [])) {
          if (type !== "directory") continue;
          const path = joinPath(folder, name);
          if (ignores?.excludes(path, "directory")) excluded.push(relativeTo(below.path, path));
          else waiting.push(path);
        }
      }
      return excluded;
    },
    async without(matches: readonly GrepMatch[]): Promise<GrepMatch[]> {
      const kept: GrepMatch[] = [];
      let [path, folder, isKept] = ["", "", false];
      let ignores: Ignores | null = null;
      for (const match of matches) {
        if (match.path !== path) {
          path = match.path;
          // Files of one folder are adjacent.
          if (parentOf(path) !== folder) ignores = await ignoresIn((folder = parentOf(path)));
          isKept = ignores !== null && !ignores.excludes(path, "file");
        }
        if (isKept) kept.push(match);
      }
      return kept;
    },
  };
}
