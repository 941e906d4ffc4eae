import assert from "node:assert/strict";
import {
  Agent,
  defineTool,
  Harness,
  memoryStore,
  type Fit,
  type HarnessConfig,
  type Policy,
  type Rule,
  type ToolCategory,
  type ToolDefinition,
} from "@cinch/core";
import { call, say, script, type Step } from "@cinch/testkit";
import * as z from "zod";
import { next } from "../support.ts";

/**
 * Rules, written short. `ask act` is about the tool, `ask act:a` about arguments that fit the pattern "a", `ask <other>` about a
 * category. On a thread there are also `grant act` and `yolo on`.
 */
export type Short = string;

export interface World {
  harness?: Short[];
  agent?: Short[];
  thread?: Short[];
  /** The tool "act", and the arguments of its call. */
  tool?: Partial<ToolDefinition<Words>>;
  words?: string[];
  /** It waits for data before it does anything. */
  suspends?: boolean;
  available?: { agent?: string[]; mode?: string[] };
  /** Another mode of this agent adds the tool. */
  elsewhere?: boolean;
  config?: Partial<HarnessConfig>;
  /** Called while the model streams. */
  meanwhile?: (h: Harness) => Promise<unknown>;
}

export type Words = { words: string[] };
export type Outcome = "runs" | "asks" | "is denied";

function ruleOf(short: Short): Rule {
  const [, says, category, toolName, match] = /^(\w+) (?:<(\w+)>|(\w+))(?::(.+))?$/.exec(short) ?? [];
  const fits = match === undefined ? {} : { match };
  const policy = (says === "grant" ? "allow" : says) as Policy;
  if (category !== undefined) return { category: category as ToolCategory, ...fits, policy };
  return { toolName: toolName!, ...fits, policy };
}

export async function applyRule(h: Harness, short: Short): Promise<void> {
  if (short.startsWith("yolo")) return h.setState({ yolo: short === "yolo on" });
  const { policy, ...target } = ruleOf(short);
  if (short.startsWith("grant"))
    return target.toolName === undefined
      ? h.grantSessionCategory(target as { category: ToolCategory })
      : h.grantSessionTool(target as { toolName: string });
  return target.toolName === undefined
    ? h.setPermissionForCategory({ ...target, policy } as { category: ToolCategory; policy: Policy })
    : h.setPermissionForTool({ ...target, policy } as { toolName: string; policy: Policy });
}

/** A pattern is one word, or `*`. */
const matches = (pattern: string, { words }: Words): Fit => {
  const covered = words.filter((word) => pattern === "*" || pattern === word).length;
  if (covered === 0) return "none";
  return covered === words.length ? "all" : "some";
};

export type Acting = Harness & AsyncDisposable & { runs: string[][] };

/** A harness whose model calls the tool "act" in every turn. */
export async function acting(world: World = {}): Promise<Acting> {
  const { tool = {}, words = ["a"], available = {}, elsewhere = false, config = {} } = world;
  const runs: string[][] = [];
  const act = defineTool<Words>({
    description: "Acts",
    input: z.object({ words: z.array(z.string()) }),
    matches,
    ...tool,
    execute: (input, { suspend, resumed }) => {
      if (world.suspends && !resumed) suspend("now?");
      runs.push(input.words);
      return "acted";
    },
  });
  const speak: Step = async function* (options) {
    await world.meanwhile?.(h);
    yield* call("act", { words })(options);
  };
  const model = script(...Array.from({ length: 8 }, () => [speak, say("done")]).flat());
  const agent = new Agent({
    name: "tester",
    model,
    tools: elsewhere ? {} : { act },
    permissions: (world.agent ?? []).map(ruleOf),
    ...(available.agent ? { availableTools: available.agent } : {}),
  });
  const h: Harness = new Harness({
    id: "judge",
    modes: [
      { id: "this", agent, ...(available.mode ? { availableTools: available.mode } : {}) },
      { id: "other", agent, additionalTools: elsewhere ? { act } : {} },
    ],
    storage: memoryStore(),
    permissions: (world.harness ?? []).map(ruleOf),
    ...config,
  });
  for (const short of world.thread ?? []) await applyRule(h, short);
  return Object.assign(h, { runs, [Symbol.asyncDispose]: () => h.close() });
}

/** The outcome of a call of "act". */
export async function outcome(h: Acting): Promise<Outcome> {
  const before = h.runs.length;
  let denied = false;
  const off = h.subscribe((event) => {
    if (event.type !== "tool_end") return;
    const { details } = event.result;
    denied ||= typeof details === "object" && details !== null && "code" in details;
  });
  const asked = next(h, "tool_approval_required");
  const turn = h.sendMessage({ content: "go" });
  turn.catch(() => undefined);
  const waits = await Promise.race([turn.then(() => false), asked.then(() => true)]);
  off();
  if (waits) return "asks";
  assert.notEqual(h.runs.length > before, denied);
  return denied ? "is denied" : "runs";
}
