import type { Policy } from "@cinch/core";
import type { Operation } from "@cinch/core/workspace";
import type { PathNames } from "./path-names.ts";
import { askingLists, canHide, policyFor, type PathRules } from "./path-rules.ts";

/** What the file tools ask about a path. */
export interface FileRules {
  /** `undefined`: no rule covers the path. */
  policy(operation: Operation, path: string): Policy | undefined;
  /** Which of the lists of rules ask. */
  asking(operation: Operation, path: string): readonly number[];
  /** Whether listings and searches omit the path, as if it did not exist. */
  hides(path: string): boolean;
}

export const fileRules = (rules: PathRules): FileRules => ({
  policy: (operation, path) => policyFor(rules, operation, path),
  asking: (operation, path) => askingLists(rules, operation, path),
  hides: (path) => canHide(rules, path),
});

/**
 * What a call on a directory may do with the files in it. An approval for the directory covers its contents, except files with a stricter
 * rule of their own: these need a call of their own. A list that did not ask for the directory has approved nothing.
 */
export function policyInside(rules: FileRules, operation: Operation, directory: PathNames) {
  const asking = (names: PathNames) => names.each((name) => rules.asking(operation, name)).flat();
  const asked = new Set(asking(directory));
  return (path: string): "deny" | "ask" | undefined => {
    const names = directory.inside(path);
    if (names.policy((name) => rules.policy(operation, name)) === "deny") return "deny";
    return asking(names).some((list) => !asked.has(list)) ? "ask" : undefined;
  };
}

export const readPolicy = (rules: FileRules, path: string): Policy | undefined => rules.policy("read", path);

export const writePolicy = (rules: FileRules, path: string): Policy | undefined => rules.policy("write", path);

/** For a call that reads and writes. Permission to read does not permit writing, so only an `allow` for writing counts. */
export function readWritePolicy(rules: FileRules, path: string): Policy | undefined {
  const policies = [rules.policy("read", path), rules.policy("write", path)];
  if (policies.includes("deny")) return "deny";
  return policies.includes("ask") ? "ask" : policies[1];
}
