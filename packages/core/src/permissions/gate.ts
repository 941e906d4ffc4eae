import * as z from "zod/mini";
import { CinchError } from "../errors.ts";
import { Decision } from "../events/event-map.ts";
import type { Policies } from "../folds/control.ts";
import type { Json } from "../events/message.ts";
import { hashOf } from "../ports/hash.ts";
import type { JudgeContext, NamedTool } from "../tools/tool.ts";
import { judge, restriction, type Finding, type Fit, type Ruling } from "./judge.ts";
import { Policy, ToolCategory, type HeldRule, type Rule } from "./rule.ts";

const When = z.custom<(args: never) => boolean | Promise<boolean>>(
  (value) => typeof value === "function",
  "must be a function",
);

/** `true`: always ask. `when`: ask only if it returns true for the arguments. `decisions`: the answers that are accepted. */
export const Interrupt = z.union(
  [
    z.boolean(),
    z.strictObject({ when: z.optional(When), decisions: z.optional(z.array(Decision).check(z.minLength(1))) }),
  ],
  `must be true, false, or an object with at most when (a function) and decisions (of ${Decision.options.join(", ")})`,
);
export type Interrupt = z.infer<typeof Interrupt>;
export const InterruptOn = z.record(z.string(), Interrupt);
export type InterruptOn = z.infer<typeof InterruptOn>;

/** What the configuration says about the calls of one mode. */
export interface GateConfig {
  rules: readonly Rule[];
  /** The rules of the agents from the outermost subagent to this one. They can only make a call stricter. */
  levels: readonly (readonly Rule[])[];
  interruptOn: InterruptOn;
  /** Whether `initialState` turns YOLO on. */
  yolo: boolean;
  /** Overrides the category of a tool. */
  toolCategory: ((toolName: string) => ToolCategory | undefined) | undefined;
  isAvailable(toolName: string): boolean;
}

/** The policies of a tree: of the top-level thread, and of each thread below it down to the one that is judged. */
export type PolicyLevels = readonly [Policies, ...Policies[]];

/** The ruling on one call, with the policies that it is based on. */
export interface GateRuling extends Ruling {
  policies: PolicyLevels;
  /** The thread in the tree whose rules ask: a grant belongs there. */
  level: number;
  category: ToolCategory;
}

/** A call to judge. */
export interface JudgedCall {
  tool: NamedTool;
  input: unknown;
  context: JudgeContext;
}

/** Judges a call by the rules of the configuration and the thread, `interruptOn`, and the tool's own policy for its arguments. */
export async function judgeCall(call: JudgedCall, config: GateConfig, policies: PolicyLevels): Promise<GateRuling> {
  const { tool, input } = call;
  const category = categoryOf(tool, config);
  const [top, ...below] = policies;
  const findingsOf = (rules: readonly (Rule | HeldRule)[]) =>
    rules.filter((one) => concerns(one, tool.name, category)).map((one) => ruleFinding(one, call));
  const findings = await Promise.all([
    ...policyFinding(call),
    ...findingsOf(config.rules),
    ...interruptFinding(config.interruptOn, tool.name, input),
    ...findingsOf(heldRules(top)),
  ]);
  const available = config.isAvailable(tool.name);
  const yolo = top.yolo ?? config.yolo;
  const about = { policies, category };
  let ruling: GateRuling = { ...judge({ category, available, yolo, findings }), ...about, level: 0 };
  for (const [at, level] of below.entries()) {
    const rules = [...(config.levels[at] ?? []), ...heldRules(level)];
    const restricted = restriction(await Promise.all(findingsOf(rules)));
    // With YOLO no call asks, whichever level says that it does. What a level denies stays denied.
    const mustAsk = restricted === "ask" && ruling.policy === "allow" && !yolo;
    const mustDeny = restricted === "deny" && ruling.policy !== "deny";
    if (mustAsk || mustDeny) ruling = { policy: restricted, interrupt: false, ...about, level: at + 1 };
  }
  return ruling;
}

const heldRules = ({ rules, grants }: Policies): readonly HeldRule[] =>
  [...rules, ...grants].toSorted((a, b) => a.seq - b.seq);

/** What an approval is bound to: a hash of the tool and its arguments that does not depend on the order of keys. */
export async function digestOf(toolName: string, args: Json): Promise<string> {
  return hashOf(new TextEncoder().encode(JSON.stringify([toolName, sorted(args)])));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}

/** If `toolCategory` fails, the category is one that asks. */
function categoryOf({ name, category }: NamedTool, { toolCategory }: GateConfig): ToolCategory {
  try {
    return toolCategory ? ToolCategory.parse(toolCategory(name) ?? category) : category;
  } catch {
    return "other";
  }
}

const concerns = (one: Rule, toolName: string, category: ToolCategory): boolean =>
  one.toolName === undefined ? one.category === category : one.toolName === toolName;

async function ruleFinding(one: Rule & { interrupt?: boolean | undefined }, call: JudgedCall): Promise<Finding> {
  const { policy, match, toolName, interrupt } = one;
  if (match !== undefined) return { policy, rank: "pattern", fit: await fitOf(match, call) };
  if (interrupt) return { policy, rank: "pattern", fit: "all" };
  return { policy, rank: toolName === undefined ? "category" : "tool", fit: "all" };
}

const FITS: readonly unknown[] = ["all", "some", "none"];

/** If the tool can't say how far a pattern covers the arguments, the pattern covers some of them. */
async function fitOf(pattern: string, { tool: { matches }, input, context }: JudgedCall): Promise<Fit> {
  if (!matches) return "some";
  try {
    const fit = await matches(pattern, input, context);
    return FITS.includes(fit) ? fit : "some";
  } catch {
    return "some";
  }
}

/** What the tool's `policy` says, such as path rules. If it throws, the call is denied. */
function policyFinding({ tool: { policy }, input, context }: JudgedCall): Promise<Finding>[] {
  if (!policy) return [];
  const finding = async (): Promise<Finding> => {
    try {
      const ruled = await policy(input, context);
      if (ruled === undefined) return { policy: "allow", rank: "pattern", fit: "none" };
      if (ruled === "insist") return { policy: "ask", rank: "insist", fit: "all" };
      return { policy: Policy.parse(ruled), rank: "pattern", fit: "all" };
    } catch (error) {
      const hasReason = error instanceof CinchError && error.code === "PERMISSION_DENIED";
      return { policy: "deny", rank: "pattern", fit: "all", ...(hasReason && { reason: error.message }) };
    }
  };
  return [finding()];
}

function interruptFinding(interruptOn: InterruptOn, toolName: string, input: unknown): Promise<Finding>[] {
  const interrupt = Object.hasOwn(interruptOn, toolName) ? interruptOn[toolName] : undefined;
  if (!interrupt) return [];
  const finding = async (): Promise<Finding> => {
    const applies = typeof interrupt === "object" && interrupt.when ? await holds(interrupt.when, input) : true;
    return { policy: "ask", rank: "pattern", fit: applies ? "all" : "none", interrupt: true };
  };
  return [finding()];
}

/** A condition that throws holds: then the call asks. */
async function holds(when: (args: never) => boolean | Promise<boolean>, input: unknown): Promise<boolean> {
  try {
    return Boolean(await when(input as never));
  } catch {
    return true;
  }
}

interface GatedMode {
  gate: GateConfig;
  mode: { name: string };
}

/** Tells the model why a call was refused. */
export function denial(toolName: string, { gate, mode }: GatedMode, { reason }: Ruling): string {
  if (reason !== undefined) return `Denied: ${reason}`;
  if (!gate.isAvailable(toolName)) return `Denied: the tool "${toolName}" is not available in mode "${mode.name}".`;
  return `Denied: a rule forbids this call of "${toolName}". Do not try to get around it.`;
}

export function checkDecision(decision: Decision, decisions: readonly Decision[]): void {
  if (decisions.includes(decision)) return;
  throw new CinchError(
    "INVALID_INPUT",
    `This call accepts the decisions ${decisions.map((one) => `"${one}"`).join(", ")}, not ${JSON.stringify(decision)}.`,
  );
}
