import * as z from "zod/mini";
import { CinchError, reasonOf } from "../errors.ts";
import { Decision } from "../events/event-map.ts";
import type { ActiveSkill, Policies } from "../folds/control.ts";
import type { Json } from "../events/message.ts";
import { hashOf } from "../ports/hash.ts";
import type { JudgeContext, NamedTool } from "../tools/tool.ts";
import { judge, restriction, type Finding, type Fit, type Ruling } from "./judge.ts";
import type { AgentPermissions } from "./agent-permissions.ts";
import type { PathRule, PathRuleLists } from "./path-rule.ts";
import { Policy, ToolCategory, type Rule } from "./rule.ts";

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
  /** The path rules of the top-level agent. */
  topPathRules: readonly PathRule[];
  /** The permissions of the agents at each level below, from the outermost subagent to this one. They can only make a call stricter. */
  levels: readonly (readonly AgentPermissions[])[];
  /** The path rules of all these agents. The same object for every call. */
  pathRules: PathRuleLists;
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

/** Judges a call by everything that holds for the top-level thread, and then by each level below it, which can only restrict. */
export async function judgeCall(call: JudgedCall, config: GateConfig, policies: PolicyLevels): Promise<GateRuling> {
  const { tool, input } = call;
  const category = categoryOf(tool, config);
  const [top] = policies;
  const pathRules = pathRulesOf(config, policies);
  const findingsOf = (rules: readonly Rule[]) =>
    rules.filter((one) => concerns(one, tool.name, category)).map((one) => ruleFinding(one, call));
  const interrupts = await Promise.all(interruptFinding(config.interruptOn, tool.name, input));
  const mustInterrupt = interrupts.some(({ fit }) => fit !== "none");
  const findings = await Promise.all([
    ...availabilityFinding(tool, pathRules),
    ...policyFinding(call, config.topPathRules),
    ...findingsOf(config.rules),
    ...interrupts,
    ...heldFindings(top, call, { category, mustInterrupt }),
  ]);
  const available = config.isAvailable(tool.name);
  const yolo = top.yolo ?? config.yolo;
  const about = { policies, category };
  let ruling: GateRuling = { ...judge({ category, available, yolo, findings }), ...about, level: 0 };
  for (const [at, level] of policies.entries()) {
    const agents = at === 0 ? [] : (config.levels[at - 1] ?? [NO_PERMISSIONS]);
    // Each agent is judged on its own: what one of them allows does not answer what another asks.
    const restrictions = [
      ...agents.map((agent) => ({
        list: agent.pathRules,
        findings: () => [...findingsOf(agent.rules), ...heldFindings(level, call, { category })],
      })),
      ...level.pathRules.map((list) => ({ list, findings: () => findingsOf(level.grants) })),
    ];
    for (const { list, findings: ofLevel } of restrictions) {
      const restricted = restriction(await Promise.all([...restrictingFinding(call, list), ...ofLevel()]));
      // With YOLO no call asks, whichever level says that it does. What a level denies stays denied.
      const mustAsk = restricted?.policy === "ask" && ruling.policy === "allow" && !yolo;
      const mustDeny = restricted?.policy === "deny" && ruling.policy !== "deny";
      if (mustAsk || mustDeny) ruling = { ...restricted, ...about, level: at };
    }
  }
  return ruling;
}

/** The path rules that a tool keeps when it runs: those of the agents, and those that threads have. */
export function pathRulesOf({ pathRules }: GateConfig, policies: PolicyLevels): PathRuleLists {
  const ofThreads = policies.flatMap((level) => level.pathRules);
  return ofThreads.length === 0 ? pathRules : [...pathRules, ...ofThreads];
}

const NO_PERMISSIONS: AgentPermissions = { rules: [], pathRules: [] };

/** What the rules, grants and active skills of a thread say about a call, oldest first. */
function heldFindings(
  { rules, grants, skills }: Policies,
  call: JudgedCall,
  { category, mustInterrupt = false }: { category: ToolCategory; mustInterrupt?: boolean },
): Promise<Finding>[] {
  // The answers that `interruptOn` accepts are also those for a skill that asks.
  const interrupt = mustInterrupt ? { interrupt: true } : {};
  const held = [...rules, ...grants].filter((one) => concerns(one, call.tool.name, category));
  return [
    ...held.map((one) => ({ seq: one.seq, finding: () => ruleFinding(one, call) })),
    // Control tools act on the thread alone.
    ...(category === "control" ? [] : skills).map((one) => ({
      seq: one.seq,
      finding: async () => ({ ...(await skillFinding(one, call)), ...interrupt }),
    })),
  ]
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ finding }) => finding());
}

/** A skill asks for calls outside of what it lists, and permits none. */
async function skillFinding({ name, allowed }: ActiveSkill, call: JudgedCall): Promise<Finding> {
  const own = allowed.filter(({ toolName }) => toolName === call.tool.name);
  const fits = await Promise.all(own.map(({ match }) => (match === undefined ? "all" : fitOf(match, call))));
  return { policy: "ask", rank: "pattern", fit: fits.includes("all") ? "none" : "all", skill: name };
}

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

/** Why a tool can't keep the path rules of the agents. `undefined`: it can. */
export function whyUnavailable(tool: NamedTool, pathRules: PathRuleLists): string | undefined {
  try {
    return pathRules.length > 0 ? tool.whyUnavailable?.(pathRules) : undefined;
  } catch (error) {
    return `it can't say whether it keeps path rules: ${reasonOf(error)}`;
  }
}

function availabilityFinding(tool: NamedTool, pathRules: PathRuleLists): Finding[] {
  const reason = whyUnavailable(tool, pathRules);
  return reason === undefined ? [] : [{ policy: "deny", rank: "pattern", fit: "all", reason }];
}

type Ruled = Awaited<ReturnType<NonNullable<NamedTool["policy"]>>>;

/** What the tool's `policy` and the path rules of the top-level agent say: the stricter of both. If one throws, the call is denied. */
function policyFinding(call: JudgedCall, pathRules: readonly PathRule[]): Promise<Finding>[] {
  const { tool, input, context } = call;
  if (!tool.policy && !tool.pathPolicy) return [];
  return [
    ruledFinding(async () => {
      const own = await tool.policy?.(input, context);
      return stricter(own, await pathPolicyOf(call, pathRules));
    }),
  ];
}

/** What the path rules of a subagent add. Their `allow` decides nothing. */
function restrictingFinding(call: JudgedCall, pathRules: readonly PathRule[]): Promise<Finding>[] {
  if (pathRules.length === 0 || !call.tool.pathPolicy) return [];
  return [
    ruledFinding(async () => {
      const ruled = await pathPolicyOf(call, pathRules);
      return ruled === "allow" ? undefined : ruled;
    }),
  ];
}

async function pathPolicyOf(
  { tool, input, context }: JudgedCall,
  pathRules: readonly PathRule[],
): Promise<Policy | undefined> {
  return pathRules.length > 0 ? tool.pathPolicy?.(pathRules, input, context) : undefined;
}

async function ruledFinding(rule: () => Promise<Ruled>): Promise<Finding> {
  try {
    const ruled = await rule();
    if (ruled === undefined) return { policy: "allow", rank: "pattern", fit: "none" };
    if (ruled === "insist") return { policy: "ask", rank: "insist", fit: "all" };
    return { policy: Policy.parse(ruled), rank: "pattern", fit: "all" };
  } catch (error) {
    const hasReason = error instanceof CinchError && error.code === "PERMISSION_DENIED";
    return { policy: "deny", rank: "pattern", fit: "all", ...(hasReason && { reason: error.message }) };
  }
}

/** The strictest first; `undefined` decides nothing. What is not in the list is stricter than all, and no `Policy`: the call is denied. */
const ORDER: readonly unknown[] = ["deny", "insist", "ask", "allow", undefined];

const stricter = (one: Ruled, other: Ruled): Ruled => (ORDER.indexOf(one) <= ORDER.indexOf(other) ? one : other);

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
