import type { Policy } from "@cinch/core";
import type { Backend, Reach } from "./backend.ts";
import type { PolicyHooks } from "./backends/policy.ts";
import { joinPath, nameOf, parentOf } from "./paths.ts";
import { canHide, guardsInside, policyFor, type Operation, type PathRules } from "./rules.ts";

/** The files that rules are held against. */
export interface Ground {
  backend: Backend;
  reach: Reach;
}

/** What the rules say of a path, under the name that was given and under the one that it leads to. */
export async function policyAt(
  rules: PathRules,
  { backend, reach }: Ground,
  access: { operation: Operation; path: string },
): Promise<Policy | undefined> {
  const real = (await backend.resolve?.(access.path, reach)) ?? access.path;
  const policies = [access.path, real].map((path) => policyFor(rules, access.operation, path));
  return policies.reduce(stricter);
}

/** What the rules say of deleting a path with everything in it: one file that must stay keeps all of it. */
export async function policyForDelete(
  rules: PathRules,
  { backend, reach }: Ground,
  path: string,
): Promise<Policy | undefined> {
  const above = (await backend.resolve?.(parentOf(path), reach)) ?? parentOf(path);
  const real = path === "/" ? path : joinPath(above, nameOf(path));
  let policy = stricter(policyFor(rules, "write", path), policyFor(rules, "write", real));
  if (policy !== "allow" && !guardsInside(rules, real)) return policy;
  const direct = { ...reach, direct: true };
  const isDirectory = (at: { type: string; target?: string } | null) => at?.type === "directory" && !at.target;
  const waiting = isDirectory(await backend.stat(real, direct).catch(() => null)) ? [real] : [];
  for (let next = waiting.pop(); next !== undefined && policy !== "deny"; next = waiting.pop()) {
    for (const entry of await backend.list(next, direct)) {
      policy = stricter(policy, policyFor(rules, "write", entry.path));
      if (isDirectory(entry)) waiting.push(entry.path);
    }
  }
  return policy;
}

const ORDER = ["allow", undefined, "ask", "deny"] as const;

/** Where the rules say nothing of one of two paths, an `allow` for the other is not enough. */
const stricter = (one: Policy | undefined, other: Policy | undefined): Policy | undefined =>
  ORDER.indexOf(one) >= ORDER.indexOf(other) ? one : other;

/** Holds what rules deny against every call of a backend, whoever makes it. What has to be asked for is asked before, by the harness. */
export function ruleHooks(rules: PathRules): PolicyHooks {
  return {
    before({ operation, path }) {
      const isRead = operation === "read" || operation === "list";
      const denied =
        operation === "list" ? canHide(rules, path) : policyFor(rules, isRead ? "read" : "write", path) === "deny";
      if (!denied) return undefined;
      return `the path rules of this workspace deny it to be ${isRead ? "read" : "changed"}. Do without it.`;
    },
    guards: (directory) => guardsInside(rules, directory),
  };
}
