import { Agent, defineTool, type Budget, type HarnessConfig, type LanguageModel, type ToolSet } from "@cinch/core";
import { call, say, type Step } from "@cinch/testkit";
import * as fc from "fast-check";
import * as z from "zod";
import type { Deadline } from "../scheduled.ts";
import { sessionIn } from "./requests.ts";

/** A random tree of agents with budgets, and what people and crashes do to it. */

/** What each answer of the scripted model uses. */
export const STEP_TOKENS = 110;

interface LevelSpec {
  kind: "foreground" | "background";
  /** How many of them one agent starts at a time. */
  breadth: number;
  /** Whether the agent that starts them waits for those in the background. */
  awaited: boolean;
  /** Whether the session of the first one is resumed after its end. */
  resumed: boolean;
  /** How many calls of a tool each of them makes. */
  works: number;
  /** How many steps a turn of them may take, with what is below it. `null`: any number. */
  perTurn: number | null;
}

export interface BudgetSpec {
  levels: LevelSpec[];
  forked: boolean;
  perTurn: number | null;
  perThread: number | null;
}

export type Op = { who: 0 | 1; soon: boolean } & (
  | { do: "wait" | "restart" | "resume" | "again" }
  | { do: "talk"; which: number }
  /** `back`: how many events. */
  | { do: "rewind"; which: number | null; back: number }
  | ({ do: "die" } & Deadline)
);

export interface BudgetPlan {
  tree: BudgetSpec;
  ops: Op[];
  order: number[];
}

const limit = (most: number) => fc.option(fc.integer({ min: 1, max: most }), { nil: null, freq: 3 });

const level: fc.Arbitrary<LevelSpec> = fc.record({
  kind: fc.constantFrom("foreground", "background"),
  breadth: fc.constantFrom(1, 2, 2, 3),
  awaited: fc.boolean(),
  resumed: fc.boolean(),
  works: fc.nat(3),
  perTurn: limit(6),
});

const op: fc.Arbitrary<Op> = fc
  .tuple(
    fc.oneof(
      fc.record({ do: fc.constantFrom("wait", "restart", "resume", "again") }),
      fc.record({ do: fc.constant("talk" as const), which: fc.nat(5) }),
      fc.record({
        do: fc.constant("rewind" as const),
        which: fc.option(fc.nat(5), { nil: null }),
        back: fc.integer({ min: 1, max: 40 }),
      }),
      fc.record({
        do: fc.constant("die" as const),
        operations: fc.nat(80),
        place: fc.constantFrom<"before" | "after">("before", "after"),
      }),
    ),
    fc.record({ who: fc.constantFrom<0 | 1>(0, 0, 1), soon: fc.nat(2).map((n) => n > 0) }),
  )
  .map(([what, how]) => ({ ...what, ...how }));

export const budgetPlans: fc.Arbitrary<BudgetPlan> = fc.record({
  tree: fc.record({
    levels: fc.array(level, { minLength: 1, maxLength: 2 }),
    forked: fc.boolean(),
    perTurn: limit(12),
    perThread: limit(20),
  }),
  ops: fc.array(op, { maxLength: 8 }),
  order: fc.array(fc.nat(5), { maxLength: 400, size: "max" }),
});

/** Every limit is another number, so that the detail of a turn's end names one. */
export const turnLimit = (steps: number, depth: number): number => (steps - 1) * STEP_TOKENS + 10 + depth;
export const threadLimit = (steps: number): number => (steps - 1) * STEP_TOKENS + 5;

export const agentName = (at: number): string => `level${at}`;

export function configOf(
  { levels, forked, perTurn, perThread }: BudgetSpec,
  { model, run }: { model: LanguageModel; run: () => Promise<string> },
): HarnessConfig {
  const tools: ToolSet = {
    work: defineTool({ description: "Works", effect: "pure", input: z.object({}), execute: run }),
  };
  const delegates = { subagentBackground: true, subagentSessions: { defaultMode: "stateless" } } as const;
  let subagents: Agent[] = [];
  for (const [at, own] of [...levels.entries()].toReversed()) {
    const isFork = forked && at === levels.length - 1;
    const budget = own.perTurn === null ? {} : { budget: { tokens: turnLimit(own.perTurn, at + 1) } };
    const kind = isFork ? { forked: true as const } : { model, tools, subagents, ...delegates };
    subagents = [new Agent({ name: agentName(at), ...budget, ...kind })];
  }
  const budget: Budget = {
    ...(perTurn === null ? {} : { tokens: turnLimit(perTurn, 0) }),
    ...(perThread === null ? {} : { thread: { tokens: threadLimit(perThread) } }),
  };
  return {
    id: "tree",
    agent: new Agent({ name: "top", model, tools, subagents, ...delegates, maxSubagentDepth: 2, budget }),
    permissions: [{ toolName: "work", policy: "allow" }],
  };
}

type Prompt = Parameters<Step>[0]["prompt"];
type Call = [string, unknown, string];

/** Each agent delegates to the next level, waits for what works in the background or not, and calls its tool. */
export function stepFor({ levels }: BudgetSpec, prompt: Prompt): Step {
  const texts = prompt.map((message) =>
    message.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "",
  );
  const at = texts.findLastIndex((text) => text.startsWith("DO "));
  const depth = Number(texts[at]?.slice(3));
  const answers = prompt.slice(at).filter(({ role }) => role === "assistant").length;
  const works = Array.from({ length: levels[depth - 1]?.works ?? 1 }, (_, n) => call(["work", {}, `w${n}`]));
  const below = levels[depth];
  if (!below) return works[answers] ?? say("ready");
  const background = below.kind === "background";
  const task = { agent: agentName(depth), prompt: `DO ${depth + 1}`, ...(background ? { background } : {}) };
  const starts = Array.from({ length: below.breadth }, (_, n): Call => {
    return ["task", n === 0 && below.resumed ? { ...task, session: { mode: "new" } } : task, `d${n}`];
  });
  const newest = [...JSON.stringify(prompt.slice(at)).matchAll(/agent_id=\\*"(bg-\d+)/g)].map(([, id]) => id);
  const steps = [call(...starts)];
  if (background && below.awaited) steps.push(call(["agent_await", { ids: newest, mode: "allSettled" }, "a"]));
  const id = sessionIn(JSON.stringify(prompt.slice(at)));
  if (below.resumed && !background) steps.push(call(["task", { ...task, session: { mode: "resume", id } }, "r"]));
  return [...steps, ...works][answers] ?? say("ready");
}
