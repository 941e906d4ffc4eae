import type { Policy } from "@cinch/core";

/** What the file tools ask about a path. */
export interface FileRules {
  /** `undefined`: no rule covers the path. */
  policy(operation: "read" | "write", path: string): Policy | undefined;
  /** Whether listings and searches omit the path, as if it did not exist. */
  hides(path: string): boolean;
}

export const readPolicy = (rules: FileRules, path: string): Policy | undefined => rules.policy("read", path);

export const writePolicy = (rules: FileRules, path: string): Policy | undefined => rules.policy("write", path);

/** For a call that reads and writes. Permission to read does not permit writing, so only an `allow` for writing counts. */
export function readWritePolicy(rules: FileRules, path: string): Policy | undefined {
  const policies = [rules.policy("read", path), rules.policy("write", path)];
  if (policies.includes("deny")) return "deny";
  return policies.includes("ask") ? "ask" : policies[1];
}
