import type { PolicyHooks } from "../backends/policy.ts";
import { canHide, guardsInside, policyFor, type PathRules } from "./path-rules.ts";

/** Those of rules, and what is asked only before something is written. */
export function withFrozen(hooks: PolicyHooks, frozen: PolicyHooks["before"]): PolicyHooks {
  return {
    before(access, reach) {
      const refusal = hooks.before?.(access, reach);
      const isWrite = access.operation === "write" || access.operation === "delete";
      return refusal === undefined && isWrite ? frozen?.(access, reach) : refusal;
    },
    // A repository may be anywhere.
    guards: () => true,
  };
}

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
