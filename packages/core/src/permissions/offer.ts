import { Decision } from "../events/event-map.ts";
import type { Policies } from "../folds/control.ts";
import { rule, type Asked, type GateConfig, type GateRuling } from "./gate.ts";
import { Pattern, type Rule } from "./rule.ts";

/** What a person can be offered when a call has to ask. */
export interface Offer {
  decisions: Decision[];
  /** The narrow pattern that `always_allow_tool` remembers. */
  suggestion?: string;
}

/** The answers that mean something here: "always" only where the grant would keep the next such call from asking. */
export async function offer(asked: Asked, config: GateConfig, ruling: GateRuling): Promise<Offer> {
  const { tool } = asked;
  const { policies, category, interrupt } = ruling;
  const silences = async (granted: Rule, over: boolean): Promise<boolean> => {
    const grant = { ...granted, seq: Infinity, ...(over ? { interrupt: true } : {}) };
    const then: Policies = { ...policies, grants: [...policies.grants, grant] };
    return (await rule(asked, config, then)).policy === "allow";
  };
  const suggestion = await suggestionOf(asked);
  const match = typeof suggestion === "string" ? { match: suggestion } : {};
  const allows = { policy: "allow" as const };
  // A tool that has no pattern for these arguments must not be granted as a whole.
  const forTool = suggestion !== null && (await silences({ toolName: tool.name, ...match, ...allows }, interrupt));
  const forCategory = await silences({ category, ...allows }, false);
  const refused: Decision[] = [
    ...(forTool ? [] : ["always_allow_tool" as const]),
    ...(forCategory ? [] : ["always_allow_category" as const]),
  ];
  const interruptOn = interrupt ? config.interruptOn[tool.name] : undefined;
  const taken = (typeof interruptOn === "object" ? interruptOn.decisions : undefined) ?? Decision.options;
  const left = taken.filter((decision) => !refused.includes(decision));
  // A question that can't be answered would wait for ever.
  const decisions: Decision[] = left.length > 0 ? left : ["approve", "decline"];
  return typeof suggestion === "string" && forTool ? { decisions, suggestion } : { decisions };
}

/** `undefined`: the tool knows no patterns. `null`: it has none for these arguments. */
async function suggestionOf({ tool, input, context }: Asked): Promise<string | null | undefined> {
  if (!tool.suggest) return undefined;
  try {
    const pattern = await tool.suggest(input, context);
    return Pattern.safeParse(pattern).success ? (pattern ?? null) : null;
  } catch {
    return null;
  }
}
