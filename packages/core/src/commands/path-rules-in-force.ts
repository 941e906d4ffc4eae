import type { PathRuleLists } from "../permissions/path-rule.ts";
import type { Thread } from "../thread/thread.ts";

/**
 * The path rules with which a top-level thread begins that a person makes of this one: it must not reach more than a subagent did. Rejects
 * if this process lacks the subagent's agent.
 */
export async function pathRulesInForce({ state, ports }: Thread): Promise<PathRuleLists> {
  const { agent, control } = state;
  if (!agent) return control.policies.pathRules;
  const missing = ports.modes.missingAgent;
  if (missing) throw missing;
  const { gate } = await ports.modes.setup(control);
  // Only a top-level thread has path rules of its own.
  return ports.threads.visit(agent.rootThreadId, async (top) => [
    ...top.state.control.policies.pathRules,
    ...gate.pathRules,
  ]);
}
