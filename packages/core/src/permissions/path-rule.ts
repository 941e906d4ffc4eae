import * as z from "zod/mini";
import { checkedConfig } from "../config/check.ts";
import { Policy, Rule } from "./rule.ts";

export const Operation = z.enum(["read", "write"]);
export type Operation = z.infer<typeof Operation>;

/** What may be read or written where. Only the workspace knows what a path means. Deleting is writing, listing and searching are reading. */
export const PathRule = z.strictObject({
  operations: z.array(Operation).check(z.minLength(1)),
  paths: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  mode: Policy,
});
export type PathRule = z.infer<typeof PathRule>;

/** Path rules of several agents. Each list is judged on its own, and the strictest verdict counts. */
export type PathRuleLists = readonly (readonly PathRule[])[];

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
