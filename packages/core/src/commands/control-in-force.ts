import type { Control, Policies } from "../folds/control.ts";
import { pathRulesOf } from "../permissions/gate.ts";
import type { HeldRule, Rule } from "../permissions/rule.ts";
import type { Thread } from "../thread/thread.ts";

/**
 * The settings with which a top-level thread begins that a person makes of this one. Those of a subagent's thread are its tree's: what the
 * subagent had to ask for is not allowed, and what was denied to it, by rules or by path rules, is denied. Rejects if this process lacks
 * the subagent's agent, since it does not have all the rules then.
 */
export async function controlInForce(thread: Thread): Promise<Control> {
  const { state, ports } = thread;
  if (!state.agent) return state.control;
  const missing = ports.modes.missingAgent;
  if (missing) throw missing;
  const { modeId } = state.agent;
  return withAncestors(thread, async (ancestors) => {
    // Other processes may have set rules there.
    await Promise.all(ancestors.map((above) => above.refresh()));
    return { ...state.control, modeId, policies: policiesOf(thread) };
  });
}

/** `work` gets the threads above this one, which are open while it takes. */
async function withAncestors<T>(
  { state, ports }: Thread,
  work: (ancestors: readonly Thread[]) => Promise<T>,
  below: readonly Thread[] = [],
): Promise<T> {
  if (!state.agent) return work(below);
  return ports.threads.visit(state.agent.owner, (owner) => withAncestors(owner, work, [owner, ...below]));
}

/** The policies of a tree as those of one thread. They may be stricter than the tree's, and are never wider. */
function policiesOf({ state, policies, ports }: Thread): Policies {
  const [top, ...threads] = policies;
  const { gate } = ports.modes.setup(state.control);
  const { rules, levels } = gate;
  const below = [...levels.flat(), ...threads].flatMap((level) => level.rules);
  const asks = below.filter(({ policy }) => policy === "ask");
  // A rule that is more specific than one which asks would decide, so it asks, too.
  const overruled = [...rules, ...top.rules]
    .filter((rule) => rule.policy === "allow" && asks.some((asking) => isMoreSpecific(rule, asking)))
    .map((rule): Rule => ({ ...rule, policy: "ask" }));
  const denies = [...top.rules, ...below].filter(({ policy }) => policy === "deny");
  const others = top.rules.filter(({ policy }) => policy !== "deny");
  // Of rules for the same target the last one decides, or is the only one that a new thread keeps.
  const all = [...others, ...overruled, ...asks, ...denies].map((rule): HeldRule => ({ ...rule, seq: 0 }));
  const pathRules = pathRulesOf(gate, policies);
  return { rules: all, grants: [], yolo: top.yolo ?? ports.shape.yolo, pathRules, skills: [] };
}

/** Whether a rule may decide about a call for which the other one asks. */
function isMoreSpecific(rule: Rule, asking: Rule): boolean {
  const isOtherTool = rule.toolName !== undefined && asking.toolName !== undefined && rule.toolName !== asking.toolName;
  if (asking.match !== undefined || isOtherTool) return false;
  return rule.match !== undefined || (rule.toolName !== undefined && asking.toolName === undefined);
}
