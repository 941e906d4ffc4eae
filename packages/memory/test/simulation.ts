import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import {
  Agent,
  defineTool,
  Harness,
  type Clock,
  type HarnessEvent,
  type Memory,
  type Store,
  type ToolSet,
} from "@cinch/core";
import { scriptedBy, type ScriptedModel, type Step } from "@cinch/testkit";
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";

/** By message, its parts as text. A message that did not change since the last request is the same object. */
const texts = new WeakMap<object, readonly string[]>();

/** By prompt, what `partsOf` returns: each prompt of a long thread is looked at several times. */
const parted = new WeakMap<LanguageModelV4Prompt, readonly string[]>();

/** The parts of a prompt as text, without the tail. */
function partsOf(prompt: LanguageModelV4Prompt): readonly string[] {
  const known = parted.get(prompt) ?? newPartsOf(prompt);
  parted.set(prompt, known);
  return known;
}

function newPartsOf(prompt: LanguageModelV4Prompt): readonly string[] {
  const parts = prompt.flatMap((message) => {
    const known = texts.get(message) ?? [message.content].flat().map((part) => JSON.stringify([message.role, part]));
    texts.set(message, known);
    return known;
  });
  return parts.at(-1)?.includes("<focus>") ? parts.slice(0, -1) : parts;
}

const lengthOf = (parts: readonly string[]): number => parts.reduce((sum, part) => sum + part.length, 0);

export const tokensOf = (prompt: LanguageModelV4Prompt): number => Math.ceil(lengthOf(partsOf(prompt)) / 4);

/** Answers like a provider that counts a token for four characters. */
export const answer = (text: string, call?: { name: string; input: unknown; id: string }): Step =>
  async function* ({ prompt, tools }) {
    // A provider takes time, in which other work of the process goes on.
    await setImmediate();
    const input = tokensOf(prompt) + Math.ceil(JSON.stringify(tools ?? []).length / 4);
    const output = Math.ceil(text.length / 4);
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: text };
    yield { type: "text-end", id: "t" };
    if (call) yield { type: "tool-call", toolCallId: call.id, toolName: call.name, input: JSON.stringify(call.input) };
    const reason = call ? "tool-calls" : "stop";
    yield {
      type: "finish",
      finishReason: { unified: reason, raw: reason },
      usage: {
        inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: output, text: output, reasoning: 0 },
      },
    };
  };

const systemOf = ({ prompt }: LanguageModelV4CallOptions): string => {
  const [first] = prompt;
  return first?.role === "system" ? first.content : "";
};

export const isObserver = (options: LanguageModelV4CallOptions): boolean =>
  systemOf(options).includes("next part of it");
export const isReflector = (options: LanguageModelV4CallOptions): boolean => systemOf(options).includes("too long");
export const isSummariser = (options: LanguageModelV4CallOptions): boolean =>
  systemOf(options).startsWith("You summarise");

export interface Minds {
  /** Overrides a step of the agent. `steps`: how many it has taken. */
  agent?: (options: LanguageModelV4CallOptions, steps: number) => Step | undefined;
  observer?: (options: LanguageModelV4CallOptions) => Step;
  reflector?: (options: LanguageModelV4CallOptions) => Step;
  summariser?: (options: LanguageModelV4CallOptions) => Step;
}

const observed: Step = answer(
  `- The agent looked at more files.\n${"- A fact. ".repeat(200)}\nCurrent task: look on\nNext: the next file`,
);
const reflected: Step = answer("- The agent looked at many files. ".repeat(100));
const summarised: Step = answer("Goal: look at files. ".repeat(50));

/** A model that calls a tool `steps` times, about 400 tokens a step, and that is asked to observe, reflect and summarise too. */
export function worker(steps: number, { agent, observer, reflector, summariser }: Minds = {}): ScriptedModel {
  let step = 0;
  return scriptedBy((options) => {
    if (isObserver(options)) return observer?.(options) ?? observed;
    if (isReflector(options)) return reflector?.(options) ?? reflected;
    if (isSummariser(options)) return summariser?.(options) ?? summarised;
    const override = agent?.(options, step);
    if (override) return override;
    if (step++ >= steps) return answer("Done.");
    return answer(`Step ${step}. ${"I look at the next file now. ".repeat(10)}`, {
      name: "look",
      input: { at: step },
      id: `call-${step}`,
    });
  });
}

const lookedAt = (input: unknown): string =>
  `Result ${(input as { at: number }).at}: ${"The file has a line. ".repeat(55)}`;

const LOOK = {
  description: "Looks",
  category: "read" as const,
  input: { type: "object" as const, properties: { at: { type: "number" as const } } },
};

export const look = defineTool({ ...LOOK, execute: lookedAt });

/** Waits for the observer and the reflector: on a busy machine the steps of a turn may be faster than they are. */
export const lookAfter = (jobs: () => MemoryJobs | undefined) =>
  defineTool({
    ...LOOK,
    execute: async (input) => {
      await jobs()?.ended();
      return lookedAt(input);
    },
  });

export async function simulated(
  model: ScriptedModel,
  config: {
    tools?: ToolSet;
    memory: Memory;
    storage?: Store;
    contextWindow?: number | Record<string, number>;
    maxSteps?: number;
    clock?: Clock;
    onRecover?: "resume" | "pause";
    /** A process can't drive a thread that is in a mode which it does not have. */
    modeIds?: string[];
    /** Steps wait for the observer and the reflector. */
    patient?: boolean;
  },
): Promise<{ harness: Harness; seen: HarnessEvent[] } & AsyncDisposable> {
  let jobs: MemoryJobs | undefined;
  const { maxSteps = 5_000, modeIds = ["work"], patient = false, ...others } = config;
  const { tools = { look: patient ? lookAfter(() => jobs) : look }, ...rest } = others;
  const agent = new Agent({
    name: "worker",
    model,
    instructions: "Work.",
    tools,
    maxSteps,
    subagents: false,
  });
  const harness = new Harness({
    id: "test",
    modes: modeIds.map((id) => ({ id, agent })),
    contextWindow: 128_000,
    ...rest,
  });
  await harness.init();
  jobs = new MemoryJobs(harness);
  const seen: HarnessEvent[] = [];
  harness.subscribe((event) => {
    if (event.type !== "message_update" && event.type !== "display_state_changed") seen.push(event);
  });
  return { harness, seen, [Symbol.asyncDispose]: () => harness.close() };
}

/** Follows the observer and the reflector of the current thread. */
export class MemoryJobs {
  readonly #running = new Set<string>();
  readonly #unsubscribe: () => void;

  constructor(harness: Harness) {
    this.#unsubscribe = harness.subscribe(({ type }) => {
      const [, job, state] = /^om_(observation|reflection)_(start|end|failed)$/.exec(type) ?? [];
      if (job === undefined) return;
      if (state === "start") this.#running.add(job);
      else this.#running.delete(job);
    });
  }

  /** Settles when none is at work. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await setImmediate();
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }
}

/** The requests that are steps of the agent. */
export const stepsOf = (model: ScriptedModel): LanguageModelV4CallOptions[] =>
  model.requests.filter((options) => !isObserver(options) && !isReflector(options) && !isSummariser(options));

/** For each request, the share of the one before that it begins with. */
export function sharedPrefixes(requests: readonly LanguageModelV4CallOptions[]): number[] {
  return requests.slice(1).map(({ prompt }, at) => {
    const [before, now] = [partsOf(requests[at]!.prompt), partsOf(prompt)];
    const same = before.findIndex((part, index) => now[index] !== part);
    return same < 0 ? 1 : lengthOf(before.slice(0, same)) / lengthOf(before);
  });
}

/**
 * Each step is in the prompt as it is, or in a range that a block covers: never both, never neither. `results`: those that
 * the thread has, or their `seq` in order.
 */
export function assertCovered(
  prompt: LanguageModelV4Prompt,
  results: readonly (number | { step: number; seq: number })[],
): void {
  const parts = partsOf(prompt);
  const ranges = parts.flatMap((part) => {
    const found =
      /^\["user",\{"type":"text","text":"<(?:observations|summary|left-out) from=\\"(\d+)\\" to=\\"(\d+)/.exec(part);
    return found ? [{ from: Number(found[1]), to: Number(found[2]) }] : [];
  });
  for (const [at, { from }] of ranges.entries())
    assert.equal(from, at === 0 ? 1 : ranges[at - 1]!.to + 1, "the ranges are adjacent");
  const covered = ranges.at(-1)?.to ?? 0;
  const raw = parts.flatMap((part) => {
    const found = /^\["tool",.*?"value":"Result (\d+): /.exec(part);
    return found ? [Number(found[1])] : [];
  });
  const all = results.map((one, at) => (typeof one === "number" ? { step: at + 1, seq: one } : one));
  const expected = all.flatMap(({ step, seq }) => (seq > covered ? [step] : []));
  assert.deepEqual(raw, expected, `with ${covered} covered`);
}

/** The results of `look` in a journal. */
export const resultsIn = (events: readonly { type: string; seq: number }[]): { step: number; seq: number }[] =>
  events.flatMap((event) => {
    const found = event.type === "tool_end" ? /"content":"Result (\d+): /.exec(JSON.stringify(event)) : null;
    return found ? [{ step: Number(found[1]), seq: event.seq }] : [];
  });
