import {
  Agent,
  defineTool,
  type Effect,
  type HarnessConfig,
  type LanguageModel,
  type Policy,
  type Rule,
  type ToolContext,
  type ToolSet,
} from "@cinch/core";
import { call, say, type Step } from "@cinch/testkit";
import * as fc from "fast-check";
import * as z from "zod";
import type { Deadline } from "../scheduled.ts";

/** A random tree of agents, and what people and crashes do to it. */

export const TOOLS = ["one", "two", "three"] as const;
export type Name = (typeof TOOLS)[number];
export const DEPTH = 3;

export type Policies = Partial<Record<Name, Policy>>;

interface LevelSpec {
  permissions: Policies;
  /** What the agent itself may use. `null`: everything. */
  available: Name[] | null;
  kind: "foreground" | "background";
  /** How many of them one agent starts at a time. */
  breadth: number;
}

export interface TreeSpec {
  config: Policies;
  /** Of the agents below the top-level one, the outermost first. */
  levels: LevelSpec[];
  /** Whether the innermost agents continue the conversation of their parent. */
  forked: boolean;
  yolo: boolean;
  effects: Record<Name, Effect>;
  /** What each of the two modes excludes. */
  excluded: [Name[], Name[]];
  /** What the agents call, step by step. */
  batches: Name[][];
}

export type Deed =
  | { do: "rule"; toolName: Name; policy: Policy; in: "top" | "below"; which: number }
  | { do: "yolo"; on: boolean }
  | { do: "mode"; mode: 0 | 1 }
  | { do: "answer"; which: number; decision: "approve" | "decline" | "always_allow_tool" }
  | { do: "wait" | "abort" | "resume" | "restart" }
  /** A person writes to a subagent. */
  | { do: "talk"; which: number }
  | ({ do: "die" } & Deadline);

/** `soon`: while other work is in progress. Otherwise when everything has settled. */
export type Op = Deed & { who: 0 | 1; soon: boolean };

export interface TreePlan {
  tree: TreeSpec;
  ops: Op[];
  order: number[];
}

const just = <const T extends string>(name: T) => fc.constant(name);
const name = fc.constantFrom(...TOOLS);
const policy = fc.constantFrom<Policy>("allow", "ask", "deny");
/** Mostly no rule: what the configuration denies stays denied, which leaves little to test. */
const policies: fc.Arbitrary<Policies> = fc.dictionary(name, fc.constantFrom<Policy>("allow", "allow", "ask", "deny"), {
  maxKeys: 2,
  noNullPrototype: true,
});

const level: fc.Arbitrary<LevelSpec> = fc.record({
  permissions: policies,
  available: fc.option(fc.subarray([...TOOLS], { minLength: 2 }), { nil: null }),
  kind: fc.constantFrom("foreground", "background"),
  breadth: fc.constantFrom(1, 1, 2),
});

const tree: fc.Arbitrary<TreeSpec> = fc.record({
  config: policies,
  levels: fc.array(level, { minLength: DEPTH, maxLength: DEPTH }),
  forked: fc.boolean(),
  yolo: fc.boolean(),
  effects: fc.record({ one: effect(), two: effect(), three: effect() }),
  excluded: fc.tuple(fc.subarray([...TOOLS], { maxLength: 1 }), fc.subarray([...TOOLS], { maxLength: 1 })),
  batches: fc.array(fc.subarray([...TOOLS], { minLength: 1 }), { minLength: 1, maxLength: 2 }),
});

function effect(): fc.Arbitrary<Effect> {
  return fc.constantFrom<Effect>("once", "pure", "idempotent");
}

const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: just("rule"),
      toolName: name,
      policy,
      in: fc.constantFrom("top", "top", "below"),
      which: fc.nat(5),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: just("yolo"), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: just("mode"), mode: fc.constantFrom<0 | 1>(0, 1) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: just("answer"),
      which: fc.nat(5),
      decision: fc.constantFrom("approve", "approve", "always_allow_tool", "decline"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("wait", "resume", "restart", "abort") }) },
  { weight: 1, arbitrary: fc.record({ do: just("talk"), which: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: just("die"), operations: fc.nat(60), place: fc.constantFrom("before", "after") }),
  },
  { weight: 1, arbitrary: fc.record({ do: just("die"), operations: fc.nat(2), place: just("running") }) },
);

const op: fc.Arbitrary<Op> = fc
  .tuple(deed, fc.record({ who: fc.constantFrom<0 | 1>(0, 0, 1), soon: fc.nat(2).map((n) => n > 0) }))
  .map(([what, how]) => ({ ...what, ...how }));

export const treePlans: fc.Arbitrary<TreePlan> = fc.record({
  tree,
  ops: fc.array(op, { minLength: 2, maxLength: 10 }),
  order: fc.array(fc.nat(5), { maxLength: 400, size: "max" }),
});

export const modeId = (mode: 0 | 1): string => `mode-${mode}`;

const rulesOf = (given: Policies): Rule[] =>
  Object.entries(given).map(([toolName, of]) => ({ toolName, policy: of })) as Rule[];

const agentName = (at: number): string => `level${at}`;
/** The level of an agent, from its path. */
export const levelOf = (path: readonly string[]): number => path.length - 1;

type Run = (toolName: Name, context: ToolContext) => Promise<string>;

export function configOf(of: TreeSpec, { model, run }: { model: LanguageModel; run: Run }): HarnessConfig {
  const tools: ToolSet = Object.fromEntries(
    TOOLS.map((toolName) => [
      toolName,
      defineTool({
        description: toolName,
        effect: of.effects[toolName],
        input: z.object({}),
        execute: (_, context) => run(toolName, context),
      }),
    ]),
  );
  let subagents: Agent[] = [];
  for (const [at, { permissions, available }] of [...of.levels.entries()].toReversed()) {
    const isLast = at === DEPTH - 1;
    const isForked = of.forked && isLast;
    const availableTools = available && [...(isLast ? [] : CONTROL), ...available];
    subagents = [
      new Agent({
        name: agentName(at),
        permissions: rulesOf(permissions),
        ...(availableTools ? { availableTools } : {}),
        ...(isForked ? { forked: true } : { model, tools, subagents, subagentBackground: true }),
      }),
    ];
  }
  const agent = new Agent({ name: "top", model, subagents, subagentBackground: true, maxSubagentDepth: DEPTH });
  return {
    id: "tree",
    tools,
    permissions: rulesOf(of.config),
    initialState: { yolo: of.yolo },
    modes: of.excluded.map((excluded, mode) => ({
      id: modeId(mode as 0 | 1),
      agent,
      availableTools: [...CONTROL, ...TOOLS.filter((one) => !excluded.includes(one))],
    })),
  };
}

const CONTROL = ["task", "agent_await", "agent_status", "agent_cancel", "ask_user", "write_todos"];

type Prompt = Parameters<Step>[0]["prompt"];

/** Each agent calls the tools, delegates to the next level, and waits for what works in the background. */
export function stepFor({ levels, batches }: TreeSpec, prompt: Prompt): Step {
  const texts = prompt.map((message) =>
    message.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "",
  );
  const at = texts.findLastIndex((text) => text.startsWith("DO "));
  const depth = Number(texts[at]?.slice(3));
  const answers = prompt.slice(at).filter(({ role }) => role === "assistant").length;
  const below = levels[depth];
  const tools = batches.map((batch) => call(...batch.map((one, n): Call => [one, {}, `t${n}`])));
  if (!below) return tools[answers] ?? say("ready");
  const background = below.kind === "background";
  const ids = Array.from({ length: below.breadth }, (_, n) => n);
  const task = { agent: agentName(depth), prompt: `DO ${depth + 1}`, ...(background ? { background } : {}) };
  const start = [...ids.map((n): Call => ["task", task, `d${n}`]), [batches[0]![0]!, {}, "t"] as Call];
  const wait: Call = ["agent_await", { ids: ids.map((n) => `bg-${n + 1}`), mode: "allSettled" }, "w"];
  const steps = [call(...start), ...(background ? [call(wait)] : []), tools[0]!];
  return steps[answers] ?? say("ready");
}

type Call = [string, unknown, string];
