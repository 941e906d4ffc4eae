import { checkedConfig } from "../config/check.ts";
import { PathRule, type PathRuleLists } from "./path-rule.ts";
import { Rule } from "./rule.ts";

/** The `permissions` of an agent. */
export interface AgentPermissions {
  readonly rules: readonly Rule[];
  /** The first that matches decides. */
  readonly pathRules: readonly PathRule[];
}

/** Throws `INVALID_CONFIG`. */
export function agentPermissions(given: readonly unknown[], what: string): AgentPermissions {
  const rules: Rule[] = [];
  const pathRules: PathRule[] = [];
  for (const [at, one] of given.entries()) {
    const where = `${what}, permissions[${at}]`;
    if (isPathRule(one)) pathRules.push(Object.freeze(checkedConfig(PathRule, one, where)));
    else rules.push(checkedConfig(Rule, one, where));
  }
  return { rules: Object.freeze(rules), pathRules: Object.freeze(pathRules) };
}

/** Also for a rule with a mistake in it, so that the error is about the rule that was meant. */
const isPathRule = (one: unknown): boolean =>
  typeof one === "object" && one !== null && Object.keys(PathRule.shape).some((key) => key in one);

/** The lists of these agents that have rules. */
export const pathRuleLists = (agents: readonly AgentPermissions[]): PathRuleLists =>
  agents.map(({ pathRules }) => pathRules).filter((list) => list.length > 0);
