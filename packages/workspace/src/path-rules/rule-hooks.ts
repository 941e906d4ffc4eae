import type { PolicyHooks } from "../backends/policy.ts";
import { canHide, guardsInside, policyFor, type PathRules } from "./path-rules.ts";

/** Enforces `deny` rules on every call of a backend. The harness has handled `ask` before the call. */
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

/** These hooks, and `frozen` before each write and deletion. */
export function withFrozen(hooks: PolicyHooks, frozen: PolicyHooks["before"]): PolicyHooks {
  return {
    before(access, reach) {
      const refusal = hooks.before?.(access, reach);
      const isWrite = access.operation === "write" || access.operation === "delete";
      return refusal === undefined && isWrite ? frozen?.(access, reach) : refusal;
    },
    // Any directory may hold a repository.
    guards: () => true,
  };
}
