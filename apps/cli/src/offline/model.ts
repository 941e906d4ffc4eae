import { setTimeout as sleep } from "node:timers/promises";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { conversationOf, type Conversation } from "./conversation.ts";
import type { Move } from "./intent.ts";
import { nextMove } from "./plan.ts";

type Part = LanguageModelV4StreamPart;

/** The default delay per word: long enough to see the text stream. */
const DELAY_MS = 15;

export interface RuleModelOptions {
  modelId: string;
  /** Per word. */
  delayMs?: number;
  isRequest?: (text: string) => boolean;
  /** `offered`: the names of the tools. */
  next: (conversation: Conversation, offered: ReadonlySet<string>) => Move;
}

/** The model that comes with Cinch. */
export const offlineModel = ({ delayMs }: Pick<RuleModelOptions, "delayMs"> = {}): LanguageModelV4 =>
  ruleModel({ modelId: "offline", delayMs, next: nextMove });

/**
 * A model that needs no network: fixed rules over the prompt. It calls the real tools. It depends only on the prompt, so another process
 * that continues a turn gets the same answers.
 */
export function ruleModel(rules: RuleModelOptions): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "cinch",
    modelId: rules.modelId,
    supportedUrls: {},
    async doGenerate() {
      throw new Error("This model only streams.");
    },
    async doStream(options) {
      const parts = answer(options, rules);
      const stream = new ReadableStream<Part>({
        async pull(controller) {
          const { value, done } = await parts.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      return { stream };
    },
  };
}

async function* answer(
  options: LanguageModelV4CallOptions,
  { next, isRequest, delayMs = DELAY_MS }: RuleModelOptions,
): AsyncGenerator<Part> {
  const { prompt, tools = [], abortSignal } = options;
  const conversation = conversationOf(prompt, isRequest);
  const move = next(conversation, new Set(tools.map(({ name }) => name)));
  yield { type: "stream-start", warnings: [] };
  if (move.text !== "") {
    yield { type: "text-start", id: "text" };
    for (const word of move.text.split(/(?<=\s)(?=\S)/)) {
      if (delayMs > 0) await sleep(delayMs, undefined, abortSignal ? { signal: abortSignal } : {});
      yield { type: "text-delta", id: "text", delta: word };
    }
    yield { type: "text-end", id: "text" };
  }
  for (const [at, { toolName, input }] of (move.kind === "call" ? move.calls : []).entries()) {
    const toolCallId = `call_${conversation.calls + at + 1}`;
    const text = JSON.stringify(input);
    yield { type: "tool-input-start", id: toolCallId, toolName };
    yield { type: "tool-input-delta", id: toolCallId, delta: text };
    yield { type: "tool-input-end", id: toolCallId };
    yield { type: "tool-call", toolCallId, toolName, input: text };
  }
  const reason = move.kind === "call" ? "tool-calls" : "stop";
  yield { type: "finish", finishReason: { unified: reason, raw: reason }, usage: usageOf(options, move.text) };
}

/** An estimate: four characters per token. */
function usageOf({ prompt }: LanguageModelV4CallOptions, said: string) {
  const [input, output] = [JSON.stringify(prompt).length, said.length].map((chars) => Math.ceil(chars / 4));
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}
