import { below, glob } from "./glob/index.ts";
import { joinPath, namesOf } from "./paths.ts";
import type { PathRule } from "./path-rules/path-rules.ts";

/** Path rules for somebody whose "/" is a folder of the workspace. */
export function rulesBelow(rules: readonly PathRule[], folder: string): PathRule[] {
  if (folder === "/") return [...rules];
  return rules.flatMap((rule) => {
    const paths = rule.paths.flatMap((path) => patternsBelow(path, folder, rule.mode === "allow"));
    return paths.length > 0 ? [{ ...rule, paths }] : [];
  });
}

function patternsBelow(pattern: string, folder: string, exactly: boolean): string[] {
  // What can't be cut at the folder comes back as everything below it. That may forbid too much, but must not allow too much.
  const all = () => glob(pattern).matches(joinPath(folder, "any/name"));
  const left = below(pattern, namesOf(folder)).filter((rest) => rest !== "**" || !exactly || all());
  return left.map((rest) => `/${rest}`);
}
