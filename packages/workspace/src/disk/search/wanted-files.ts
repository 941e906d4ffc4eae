import { ALWAYS, IGNORE_FILES, type Ignores } from "../../search/ignore.ts";
import { ignoresAbove, type WalkQuery } from "../../search/index.ts";
import { joinPath, nameOf, parentOf, relativeTo } from "../../paths.ts";
import { isSliceOver, yieldIfDue } from "../../contents/pace.ts";
import type { GrepMatch } from "../../backend.ts";
import type { Subtree } from "./subtree.ts";
import type { SearchOptions } from "./disk-search.ts";

/** How many folders are scanned for excluded folders before the search. Matches in others are filtered afterwards. */
const MOST_FOLDERS = 16;

/** What ignore files exclude in a folder. `null`: nothing, because the query names it. `undefined`: the folder is excluded itself. */
type FolderRules = Ignores | null | undefined;

/** The files that a walk would find, for a search by ripgrep, which does not read ignore files: they are not trusted. */
export async function wantedFiles(below: Subtree, { named, fits }: WalkQuery, { beginning }: SearchOptions) {
  const known = new Map<string, Promise<FolderRules>>();
  const rulesIn = (folder: string): Promise<FolderRules> => {
    if (!known.has(folder)) known.set(folder, look(folder));
    return known.get(folder)!;
  };
  const look = async (folder: string): Promise<FolderRules> => {
    const isTop = folder === below.path;
    const above = isTop ? await ignoresAbove({ beginning }, folder) : await rulesIn(parentOf(folder));
    if (!above) return above;
    const isNamed = isTop ? folder !== "/" : named.has(nameOf(folder));
    if (!isTop && above.excludes(folder, "directory")) return isNamed ? null : undefined;
    const files = IGNORE_FILES.map((name) => joinPath(folder, name)).filter((path) => below.hasFile(path));
    const text = (await Promise.all(files.map(beginning))).join("\n").trimEnd();
    await yieldIfDue();
    const rules = above.within(folder, text);
    return isNamed && rules.excludesContents(folder) ? null : rules;
  };
  const top = await rulesIn(below.path);

  return {
    /** Names of folders to skip anywhere. */
    skipped: top && !top.bringsBack ? [...ALWAYS].filter((name) => !named.has(name)) : [],
    /** Excluded folders near the top, as paths with a slash in front. */
    async excludedFolders(): Promise<string[]> {
      const excluded: string[] = [];
      const waiting = top && !top.isEmpty ? [below.path] : [];
      for (let looked = 0; waiting.length > 0 && looked < MOST_FOLDERS; looked++) {
        const folder = waiting.shift()!;
        const rules = await rulesIn(folder);
        for (const { name, type } of await below.children(folder).catch(() => [])) {
          if (type !== "directory") continue;
          if (isSliceOver()) await yieldIfDue();
          const path = joinPath(folder, name);
          if (!rules?.excludes(path, "directory") || named.has(name)) waiting.push(path);
          else excluded.push(`/${relativeTo(below.path, path)}`);
        }
      }
      return excluded;
    },
    async among(matches: readonly GrepMatch[]): Promise<GrepMatch[]> {
      const wanted: GrepMatch[] = [];
      let [path, folder, isWanted] = ["", "", false];
      let rules: FolderRules;
      for (const match of matches) {
        if (match.path !== path) {
          path = match.path;
          if (isSliceOver()) await yieldIfDue();
          // Files of one folder are adjacent.
          if (parentOf(path) !== folder) rules = await rulesIn((folder = parentOf(path)));
          const isExcluded = rules === undefined || (rules?.excludes(path, "file") && !named.has(nameOf(path)));
          isWanted = !isExcluded && fits(path);
        }
        if (isWanted) wanted.push(match);
      }
      return wanted;
    },
  };
}
