import * as z from "zod/mini";
import { CinchError } from "../errors.ts";
import { Decision } from "../events/event-map.ts";
import type { Policies } from "../folds/control.ts";
import type { Json } from "../events/message.ts";
import { hashOf } from "../ports/hash.ts";
import type { JudgeContext, NamedTool } from "../tools/tool.ts";
import { judge, type Finding, type Fit, type Ruling } from "./judge.ts";
import { Policy, ToolCategory, type HeldRule, type Rule } from "./rule.ts";

const When = z.custom<(args: never) => boolean | Promise<boolean>>(
  (value) => typeof value === "function",
  "must be a function",
);

/** `true`: always ask. `when`: ask for these arguments only. `decisions`: the answers that are taken. */
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

/** What the configuration says of the calls of one mode. */
export interface GateConfig {
  rules: readonly Rule[];
  interruptOn: InterruptOn;
  /** Whether `initialState` turns YOLO on. */
  yolo: boolean;
  /** What the harness says in the place of the tool's own category. */
  toolCategory: ((toolName: string) => ToolCategory | undefined) | undefined;
  isAvailable(toolName: string): boolean;
}

/** What the gate says of one call. The policies are those that it was held against. */
export interface GateRuling extends Ruling {
  policies: Policies;
  category: ToolCategory;
}

/** A call that is to be judged. */
export interface Asked {
  tool: NamedTool;
  input: unknown;
  context: JudgeContext;
}

/** Holds a call against everything that has a say in it: configuration, thread, and the tool's own view of its arguments. */
export async function rule(asked: Asked, config: GateConfig, policies: Policies): Promise<GateRuling> {
  const { tool, input } = asked;
  const category = categoryOf(tool, config);
  const own = [...policies.rules, ...policies.grants].toSorted((a, b) => a.seq - b.seq);
  const found = (rules: readonly (Rule | HeldRule)[]) =>
    rules.filter((one) => concerns(one, tool.name, category)).map((one) => ruleFinding(one, asked));
  const findings = await Promise.all([
    ...placeFinding(asked),
    ...found(config.rules),
    ...interruptFinding(config.interruptOn, tool.name, input),
    ...found(own),
  ]);
  const available = config.isAvailable(tool.name);
  const yolo = policies.yolo ?? config.yolo;
  return { ...judge({ category, available, yolo, findings }), policies, category };
}

/** What an answer is bound to: the tool and its arguments, in a form that does not depend on the order of keys. */
export async function digestOf(toolName: string, args: Json): Promise<string> {
  return hashOf(new TextEncoder().encode(JSON.stringify([toolName, sorted(args)])));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}

/** A category that can't be told is one that asks. */
function categoryOf({ name, category }: NamedTool, { toolCategory }: GateConfig): ToolCategory {
  try {
    return toolCategory ? ToolCategory.parse(toolCategory(name) ?? category) : category;
  } catch {
    return "other";
  }
}

const concerns = (one: Rule, toolName: string, category: ToolCategory): boolean =>
  one.toolName === undefined ? one.category === category : one.toolName === toolName;

async function ruleFinding(one: Rule & { interrupt?: boolean | undefined }, asked: Asked): Promise<Finding> {
  const { policy, match, toolName, interrupt } = one;
  if (match !== undefined) return { policy, rank: "pattern", fit: await fitOf(match, asked) };
  if (interrupt) return { policy, rank: "pattern", fit: "all" };
  return { policy, rank: toolName === undefined ? "category" : "tool", fit: "all" };
}

const FITS: readonly unknown[] = ["all", "some", "none"];

/** A pattern that nobody can hold against the arguments may be meant for them. */
async function fitOf(pattern: string, { tool: { matches }, input, context }: Asked): Promise<Fit> {
  if (!matches) return "some";
  try {
    const fit = await matches(pattern, input, context);
    return FITS.includes(fit) ? fit : "some";
  } catch {
    return "some";
  }
}

/** Path rules: what the place says in which the tool works. */
function placeFinding({ tool: { policy }, input, context }: Asked): Promise<Finding>[] {
  if (!policy) return [];
  const asked = async (): Promise<Finding> => {
    try {
      const said = await policy(input, context);
      if (said === undefined) return { policy: "allow", rank: "pattern", fit: "none" };
      if (said === "insist") return { policy: "ask", rank: "place", fit: "all" };
      return { policy: Policy.parse(said), rank: "pattern", fit: "all" };
    } catch (error) {
      const isReason = error instanceof CinchError && error.code === "PERMISSION_DENIED";
      return { policy: "deny", rank: "pattern", fit: "all", ...(isReason && { tell: error.message }) };
    }
  };
  return [asked()];
}

function interruptFinding(interruptOn: InterruptOn, toolName: string, input: unknown): Promise<Finding>[] {
  const interrupt = Object.hasOwn(interruptOn, toolName) ? interruptOn[toolName] : undefined;
  if (!interrupt) return [];
  const asked = async (): Promise<Finding> => {
    const fit = typeof interrupt === "object" && interrupt.when ? await holds(interrupt.when, input) : true;
    return { policy: "ask", rank: "pattern", fit: fit ? "all" : "none", interrupt: true };
  };
  return [asked()];
}

async function holds(when: (args: never) => boolean | Promise<boolean>, input: unknown): Promise<boolean> {
  try {
    return Boolean(await when(input as never));
  } catch {
    return true;
  }
}

interface Denying {
  gate: GateConfig;
  mode: { name: string };
}

/** For the model: why a call was refused. */
export function denial(toolName: string, { gate: config, mode: { name: mode } }: Denying, { tell }: Ruling): string {
  if (tell !== undefined) return `Denied: ${tell}`;
  if (!config.isAvailable(toolName)) return `Denied: the tool "${toolName}" is not available in mode "${mode}".`;
  return `Denied: a rule forbids this call of "${toolName}". Do not try to get around it.`;
}

export function checkDecision(decision: Decision, decisions: readonly Decision[]): void {
  if (decisions.includes(decision)) return;
  throw new CinchError(
    "INVALID_INPUT",
    `This call takes ${decisions.map((one) => `"${one}"`).join(", ")} as a decision, not ${JSON.stringify(decision)}.`,
  );
}
