import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { Agent, defineTool, Harness, memoryStore, textOf, type LanguageModel } from "@cinch/core";
import * as z from "zod";
import { asV4 } from "../../src/model/compat.ts";
import { permissions } from "../support.ts";

const streamOf = <T>(parts: readonly T[]): ReadableStream<T> =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 2 };
const newUsage = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: 0 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};
const calls = { type: "tool-call" as const, toolCallId: "c1", toolName: "draw", input: "{}" };
const saying = [
  { type: "text-start" as const, id: "t" },
  { type: "text-delta" as const, id: "t", delta: "Drawn." },
  { type: "text-end" as const, id: "t" },
  { type: "file" as const, mediaType: "image/png", data: "AQID" },
];

function v2(): LanguageModelV2 & { asked: LanguageModelV2CallOptions[] } {
  const asked: LanguageModelV2CallOptions[] = [];
  return {
    specificationVersion: "v2",
    provider: "old",
    modelId: "two",
    supportedUrls: {},
    asked,
    doGenerate: () => Promise.reject(new Error("It only streams.")),
    async doStream(options) {
      const first = asked.push(options) === 1;
      const stream: LanguageModelV2StreamPart[] = first
        ? [calls, { type: "finish", finishReason: "tool-calls", usage }]
        : [...saying, { type: "finish", finishReason: "stop", usage }];
      return { stream: streamOf(stream) };
    },
  };
}

function v3(): LanguageModelV3 & { asked: LanguageModelV3CallOptions[] } {
  const asked: LanguageModelV3CallOptions[] = [];
  return {
    specificationVersion: "v3",
    provider: "old",
    modelId: "three",
    supportedUrls: {},
    asked,
    doGenerate: () => Promise.reject(new Error("It only streams.")),
    async doStream(options) {
      const first = asked.push(options) === 1;
      const stream: LanguageModelV3StreamPart[] = first
        ? [calls, { type: "finish", finishReason: { unified: "tool-calls", raw: "x" }, usage: newUsage }]
        : [...saying, { type: "finish", finishReason: { unified: "stop", raw: "x" }, usage: newUsage }];
      return { stream: streamOf(stream) };
    },
  };
}

const draw = defineTool({
  description: "Draws",
  input: z.object({}),
  execute: () => ({
    content: [
      { type: "text", text: "a picture" },
      { type: "file", mediaType: "image/png", data: Uint8Array.of(1, 2, 3) },
      { type: "file", mediaType: "image/png", data: new URL("https://example.com/b.png") },
    ],
  }),
});

async function talkTo(model: LanguageModel) {
  const storage = memoryStore();
  const harness = new Harness({
    id: "test",
    storage,
    permissions,
    agent: new Agent({ name: "a", model, tools: { draw } }),
  });
  const files = [{ mediaType: "image/png", data: Uint8Array.of(9), filename: "in.png" }];
  const result = await harness.sendMessage({ content: "Draw.", files });
  const tokens = harness.getTokenUsage();
  const made = result.message?.content.find((part) => part.type === "file");
  const bytes = made?.type === "file" && made.blob ? await storage.blob(made.blob) : undefined;
  await harness.close();
  return { result, tokens, bytes };
}

for (const [version, make, fileType] of [
  ["v2", v2, "media"],
  ["v3", v3, "file-data"],
] as const) {
  test(`a model of specification ${version} gets files and results in its own format, and its answer is converted`, async () => {
    const model = make();
    const { result, tokens, bytes } = await talkTo(model);
    assert.deepEqual([result.reason, textOf(result.message!.content)], ["complete", "Drawn."]);
    assert.deepEqual([...(bytes ?? [])], [1, 2, 3], "the file it made");
    assert.deepEqual(model.asked[1]?.prompt, [
      {
        role: "user",
        content: [
          { type: "text", text: "Draw." },
          { type: "file", mediaType: "image/png", filename: "in.png", data: Uint8Array.of(9) },
        ],
      },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "draw", input: {} }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "draw",
            output: {
              type: "content",
              value: [
                { type: "text", text: "a picture" },
                { type: fileType, mediaType: "image/png", data: "AQID" },
                { type: "text", text: "https://example.com/b.png" },
              ],
            },
          },
        ],
      },
    ]);
    const once = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 0, reasoningTokens: 2 };
    assert.deepEqual(tokens, Object.fromEntries(Object.entries(once).map(([name, count]) => [name, count * 2])));
  });
}

test("a model of any other specification is refused, and the error says what to do", () => {
  assert.throws(() => asV4({ specificationVersion: "v1" } as never), {
    code: "INVALID_CONFIG",
    message: "A model with specification v1 is not supported: use an AI SDK provider of v2, v3 or v4.",
  });
});

test("an abort and a failure of an older model are passed on", async () => {
  const broken = { ...v2(), doStream: () => Promise.reject(Object.assign(new Error("No."), { statusCode: 400 })) };
  assert.equal((await talkTo(broken)).result.error?.code, "PROVIDER_REJECTED");
  const model = v3();
  await talkTo(model);
  assert.ok(model.asked[0]?.abortSignal instanceof AbortSignal);
});
