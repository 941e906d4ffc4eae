import type { Policy } from "@cinch/core";

/** What may be done to which paths. The first rule that fits decides; without one, nothing is said. */
export interface FileRules {
  policy(operation: "read" | "write", path: string): Policy | undefined;
  /** Whether listings and searches leave the path out, as if it were not there. */
  hides(path: string): boolean;
}

export const readPolicy = (rules: FileRules, path: string): Policy | undefined => rules.policy("read", path);

export const writePolicy = (rules: FileRules, path: string): Policy | undefined => rules.policy("write", path);

/** Reading and writing at once. That reading is allowed says nothing of writing, so only the latter's `allow` counts. */
export function readWritePolicy(rules: FileRules, path: string): Policy | undefined {
  const said = [rules.policy("read", path), rules.policy("write", path)];
  if (said.includes("deny")) return "deny";
  return said.includes("ask") ? "ask" : said[1];
}
