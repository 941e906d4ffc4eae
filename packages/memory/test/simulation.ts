import assert from "node:assert/strict";
import { Agent, defineTool, Harness, type HarnessEvent, type Memory, type Store } from "@cinch/core";
import { scriptedBy, type ScriptedModel, type Step } from "@cinch/testkit";
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";

export const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);

/** Answers like a provider that counts a token for four characters. */
export const answer = (text: string, call?: { name: string; input: unknown; id: string }): Step =>
  function* ({ prompt, tools }) {
    const input = tokensOf([prompt, tools ?? []]);
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: text };
    yield { type: "text-end", id: "t" };
    if (call)
      yield { type: "tool-call", toolCallId: call.id, toolName: call.name, input: JSON.stringify(call.input) };
    const reason = call ? "tool-calls" : "stop";
    yield {
      type: "finish",
      finishReason: { unified: reason, raw: reason },
      usage: {
        inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: tokensOf(text), text: tokensOf(text), reasoning: 0 },
      },
    };
  };

const systemOf = ({ prompt }: LanguageModelV4CallOptions): string => {
  const [first] = prompt;
  return first?.role === "system" ? first.content : "";
};

export const isObserver = (options: LanguageModelV4CallOptions): boolean => systemOf(options).includes("next part of it");
export const isReflector = (options: LanguageModelV4CallOptions): boolean => systemOf(options).includes("too long");
export const isSummariser = (options: LanguageModelV4CallOptions): boolean => systemOf(options).startsWith("You summarise");

export interface Minds {
  observer?: (options: LanguageModelV4CallOptions) => Step;
  reflector?: (options: LanguageModelV4CallOptions) => Step;
  summariser?: (options: LanguageModelV4CallOptions) => Step;
}

const observed: Step = answer(`- The agent looked at more files.\n${"- A fact. ".repeat(100)}\nCurrent task: look on\nNext: the next file`);
const reflected: Step = answer("- The agent looked at many files. ".repeat(100));
const summarised: Step = answer("Goal: look at files. ".repeat(50));

/** A model that calls a tool `steps` times, about 400 tokens a step, and that is asked to observe, reflect and summarise too. */
export function worker(steps: number, { observer, reflector, summariser }: Minds = {}): ScriptedModel {
  let step = 0;
  return scriptedBy((options) => {
    if (isObserver(options)) return observer?.(options) ?? observed;
    if (isReflector(options)) return reflector?.(options) ?? reflected;
    if (isSummariser(options)) return summariser?.(options) ?? summarised;
    if (step++ >= steps) return answer("Done.");
    return answer(`Step ${step}. ${"I look at the next file now. ".repeat(10)}`, {
      name: "look",
      input: { at: step },
      id: `call-${step}`,
    });
  });
}

export const look = defineTool({
  description: "Looks",
  category: "read",
  input: { type: "object", properties: { at: { type: "number" } } },
  execute: (input) => `Result ${(input as { at: number }).at}: ${"The file has a line. ".repeat(55)}`,
});

export async function simulated(
  model: ScriptedModel,
  config: { memory: Memory; storage?: Store; contextWindow?: number; maxSteps?: number },
): Promise<{ harness: Harness; seen: HarnessEvent[] } & AsyncDisposable> {
  const { maxSteps = 5_000, ...rest } = config;
  const agent = new Agent({ name: "worker", model, instructions: "Work.", tools: { look }, maxSteps, subagents: false });
  const harness = new Harness({ id: "test", agent, contextWindow: 128_000, ...rest });
  await harness.init();
  const seen: HarnessEvent[] = [];
  harness.subscribe((event) => {
    if (event.type !== "message_update" && event.type !== "display_state_changed") seen.push(event);
  });
  return { harness, seen, [Symbol.asyncDispose]: () => harness.close() };
}

/** The requests that are steps of the agent. */
export const stepsOf = (model: ScriptedModel): LanguageModelV4CallOptions[] =>
  model.requests.filter((options) => !isObserver(options) && !isReflector(options) && !isSummariser(options));

/** The prompt as text, without the tail. */
export function printed(prompt: LanguageModelV4Prompt): string {
  const parts = prompt.flatMap((message): string[] =>
    message.role === "system"
      ? [message.content]
      : message.content.map((part) => JSON.stringify([message.role, part])),
  );
  return (parts.at(-1)?.includes("<focus>") ? parts.slice(0, -1) : parts).join("\n");
}

/** For each request, the share of the one before that it begins with. */
export function sharedPrefixes(requests: readonly LanguageModelV4CallOptions[]): number[] {
  const prompts = requests.map(({ prompt }) => printed(prompt));
  return prompts.slice(1).map((prompt, at) => {
    const before = prompts[at]!;
    let same = 0;
    for (let step = 1 << 20; step >= 1; step >>= 1)
      while (same + step <= before.length && prompt.startsWith(before.slice(same, same + step), same)) same += step;
    return same / before.length;
  });
}

/** Each step is in the prompt as it is, or in a range that a block covers: never both, never neither. */
export function assertCovered(prompt: LanguageModelV4Prompt, stepSeqs: ReadonlyMap<number, number>): void {
  const text = printed(prompt);
  const ranges = Array.from(text.matchAll(/<(?:observations|summary|left-out) from=\\?"(\d+)\\?" to=\\?"(\d+)\\?"/g), (found) => [
    Number(found[1]),
    Number(found[2]),
  ]);
  for (const [at, range] of ranges.entries())
    assert.equal(range[0], at === 0 ? 1 : ranges[at - 1]![1]! + 1, "the ranges are adjacent");
  const covered = ranges.at(-1)?.[1] ?? 0;
  for (const [step, seq] of stepSeqs) {
    const isRaw = text.includes(`Result ${step}: `);
    assert.equal(isRaw, seq > covered, `step ${step} (seq ${seq}) with ${covered} covered`);
  }
}
