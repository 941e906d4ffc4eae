import type { Access, PolicyHooks } from "../backends/policy.ts";
import { canHide, guardsInside, policyFor, type PathRules } from "./path-rules.ts";

/** Enforces `deny` rules on every call of a backend. The harness has handled `ask` before the call. */
export function ruleHooks(rules: PathRules): PolicyHooks {
  return {
    before({ operation, path }) {
      if (!isDenied(rules, { operation, path })) return undefined;
      const isRead = operation === "read" || operation === "list";
      return `the path rules deny it to be ${isRead ? "read" : "changed"}. Do without it.`;
    },
    guards: (directory) => guardsInside(rules, directory),
  };
}

/** Also refuses to read what rules ask for, because no person can be asked. */
export function unaskedHooks(rules: PathRules): PolicyHooks {
  const hooks = ruleHooks(rules);
  return {
    ...hooks,
    before: (access, reach) =>
      policyFor(rules, "read", access.path) === "ask"
        ? "the path rules ask before it is read, and no person can be asked here."
        : hooks.before?.(access, reach),
  };
}

function isDenied(rules: PathRules, { operation, path }: Access): boolean {
  const denies = (of: "read" | "write") => policyFor(rules, of, path) === "deny";
  switch (operation) {
    case "list":
      return canHide(rules, path);
    case "delete":
      // What may not be read does not exist for the agent, and a deleted folder must not take it along.
      return denies("write") || denies("read");
    default:
      return denies(operation);
  }
}

/** These hooks, and `frozen` before each write and deletion. */
export function withFrozen(hooks: PolicyHooks, frozen: PolicyHooks["before"]): PolicyHooks {
  return {
    before(access, reach) {
      const refusal = hooks.before?.(access, reach);
      const isWrite = access.operation === "write" || access.operation === "delete";
      return isWrite ? Promise.resolve(refusal).then((given) => given ?? frozen?.(access, reach)) : refusal;
    },
    // Any directory may hold a repository.
    guards: () => true,
  };
}
