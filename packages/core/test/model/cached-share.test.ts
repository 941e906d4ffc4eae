import assert from "node:assert/strict";
import { test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV2, LanguageModelV2StreamPart } from "@ai-sdk/provider";
import { Agent, Harness, type HarnessEvent, type LanguageModel } from "@cinch/core";

type Fetch = typeof globalThis.fetch;
const apiKey = "none";

/** Server-sent events, as each provider names them. */
const stream = (...events: object[]): Fetch => {
  const lines = events.map((event) => {
    const { type } = event as { type?: string };
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`;
  });
  return async () => new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
};

const message = { id: "m", type: "message", role: "assistant", model: "c", content: [], stop_reason: null };
const item = { id: "i", type: "message", role: "assistant", status: "completed" };
const response = { id: "r", created_at: 0, model: "gpt-5" };
const chunk = { id: "c", object: "chat.completion.chunk", created: 0, model: "gpt-4.1" };

/** A model that has read 750 of 1,000 tokens from the cache. */
const models: Record<string, LanguageModel> = {
  anthropic: createAnthropic({
    apiKey,
    fetch: stream(
      {
        type: "message_start",
        message: {
          ...message,
          usage: { input_tokens: 50, output_tokens: 1, cache_read_input_tokens: 750, cache_creation_input_tokens: 200 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ),
  })("claude-sonnet-4-5"),
  "openai chat": createOpenAI({
    apiKey,
    fetch: stream(
      { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "Hi." }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      {
        ...chunk,
        choices: [],
        usage: { prompt_tokens: 1000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 750 } },
      },
    ),
  }).chat("gpt-4.1"),
  "openai responses": createOpenAI({
    apiKey,
    fetch: stream(
      { type: "response.created", response },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0, delta: "Hi." },
      { type: "response.output_item.done", output_index: 0, item: { ...item, content: [] } },
      {
        type: "response.completed",
        response: {
          ...response,
          usage: { input_tokens: 1000, input_tokens_details: { cached_tokens: 750 }, output_tokens: 5 },
        },
      },
    ),
  }).responses("gpt-5"),
  google: createGoogleGenerativeAI({
    apiKey,
    fetch: stream({
      candidates: [{ content: { role: "model", parts: [{ text: "Hi." }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1000, cachedContentTokenCount: 750, candidatesTokenCount: 5 },
    }),
  })("gemini-2.5-flash"),
  "anthropic, of specification v2": older("anthropic.messages", {
    usage: { inputTokens: 50, outputTokens: 5, totalTokens: 55, cachedInputTokens: 750 },
    providerMetadata: { anthropic: { cacheCreationInputTokens: 200 } },
  }),
  "openai, of specification v2": older("openai.chat", {
    usage: { inputTokens: 1000, outputTokens: 5, totalTokens: 1005, cachedInputTokens: 750 },
  }),
};

function older(
  provider: string,
  end: Pick<Extract<LanguageModelV2StreamPart, { type: "finish" }>, "usage" | "providerMetadata">,
): LanguageModelV2 {
  const parts: LanguageModelV2StreamPart[] = [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hi." },
    { type: "text-end", id: "t" },
    { type: "finish", finishReason: "stop", ...end },
  ];
  return {
    specificationVersion: "v2",
    provider,
    modelId: "old",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("It only streams.")),
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      }),
    }),
  };
}

for (const [name, model] of Object.entries(models))
  test(`${name}: usage_update reports the share of the prompt that came from the cache`, async () => {
    const harness = new Harness({ id: "t", agent: new Agent({ name: "a", model }) });
    const seen: HarnessEvent[] = [];
    harness.subscribe((event) => seen.push(event));
    const { reason } = await harness.sendMessage({ content: "Hello" });
    await harness.close();
    assert.equal(reason, "complete");
    const updates = seen.flatMap((event) => (event.type === "usage_update" ? [event] : []));
    assert.deepEqual(
      updates.map(({ cachedShare, usage }) => [cachedShare, usage.inputTokens, usage.cacheReadTokens]),
      [[0.75, 1000, 750]],
    );
    assert.equal(updates[0]!.usage.cacheWriteTokens, name.startsWith("anthropic") ? 200 : 0);
  });
