import { below, glob } from "../glob/index.ts";
import { joinPath, namesOf } from "../paths.ts";
import type { PathRule } from "@cinch/core/workspace";

/** Path rules for a shell whose "/" is a folder of the workspace. */
export function rulesBelow(rules: readonly PathRule[], folder: string): PathRule[] {
  if (folder === "/") return [...rules];
  return rules.flatMap((rule) => {
    const paths = rule.paths.flatMap((path) => patternsBelow(path, folder, { exact: rule.mode === "allow" }));
    return paths.length > 0 ? [{ ...rule, paths }] : [];
  });
}

/** A pattern that can't be cut at the folder becomes `**`. That may deny too much; `exact` prevents that it allows too much. */
function patternsBelow(pattern: string, folder: string, { exact }: { exact: boolean }): string[] {
  const coversAll = () => glob(pattern).matches(joinPath(folder, "any/name"));
  const left = below(pattern, namesOf(folder)).filter((rest) => rest !== "**" || !exact || coversAll());
  return left.map((rest) => `/${rest}`);
}
