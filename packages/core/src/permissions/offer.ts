import { Decision } from "../events/event-map.ts";
import type { Policies } from "../folds/control.ts";
import { judgeCall, type GateConfig, type GateRuling, type JudgedCall, type PolicyLevels } from "./gate.ts";
import { Pattern, type Rule } from "./rule.ts";

/** The answers that are offered to a person for a call that has to ask. */
interface Offer {
  decisions: Decision[];
  /** The narrow pattern that `always_allow_tool` remembers. */
  suggestion?: string;
}

/** Offers `always_allow_…` only where the grant would keep the next such call from asking. */
export async function offer(call: JudgedCall, config: GateConfig, ruling: GateRuling): Promise<Offer> {
  const { tool } = call;
  const { policies, level, category, interrupt } = ruling;
  const wouldAllow = async (grant: Rule & { interrupt?: boolean }): Promise<boolean> => {
    const asking = policies[level]!;
    const granted: Policies = { ...asking, grants: [...asking.grants, { ...grant, seq: Infinity }] };
    return (await judgeCall(call, config, policies.with(level, granted) as unknown as PolicyLevels)).policy === "allow";
  };
  const suggestion = await suggestionOf(call);
  const match = typeof suggestion === "string" ? { match: suggestion } : {};
  const answersInterrupt = interrupt ? { interrupt } : {};
  // A tool that has no pattern for these arguments must not be granted as a whole.
  const mayGrantTool =
    suggestion !== null && (await wouldAllow({ toolName: tool.name, ...match, policy: "allow", ...answersInterrupt }));
  const mayGrantCategory = await wouldAllow({ category, policy: "allow" });
  const excluded: Decision[] = [
    ...(mayGrantTool ? [] : ["always_allow_tool" as const]),
    ...(mayGrantCategory ? [] : ["always_allow_category" as const]),
  ];
  const interruptOn = interrupt ? config.interruptOn[tool.name] : undefined;
  const accepted = (typeof interruptOn === "object" ? interruptOn.decisions : undefined) ?? Decision.options;
  const offered = accepted.filter((decision) => !excluded.includes(decision));
  // A question without possible answers would wait for ever.
  const decisions: Decision[] = offered.length > 0 ? offered : ["approve", "decline"];
  return typeof suggestion === "string" && mayGrantTool ? { decisions, suggestion } : { decisions };
}

/** `undefined`: the tool suggests no patterns. `null`: it has none for these arguments. */
async function suggestionOf({ tool, input, context }: JudgedCall): Promise<string | null | undefined> {
  if (!tool.suggest) return undefined;
  try {
    const pattern = await tool.suggest(input, context);
    return Pattern.safeParse(pattern).success ? (pattern ?? null) : null;
  } catch {
    return null;
  }
}
