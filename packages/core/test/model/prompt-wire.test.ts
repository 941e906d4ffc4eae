import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { emptyTranscript, reduceTranscript, toPrompt, type Head } from "@cinch/core/journal";
import type { DurableEvent } from "@cinch/core";
import * as fc from "fast-check";
import { BLOB, journals, type ProviderName } from "../../../testkit/src/journal.ts";
import {
  checkAnthropic,
  checkGemini,
  checkOpenAIChat,
  checkOpenAIResponses,
} from "../../../testkit/src/providers/index.ts";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";

const head: Head = {
  system: "You are a test.",
  tools: [
    {
      type: "function",
      name: "read_file",
      description: "Reads",
      inputSchema: { type: "object", properties: { path: { type: "string" } } },
    },
  ],
};

/** The body that a real SDK would send for this prompt. */
async function bodyOf(make: (fetch: typeof globalThis.fetch) => LanguageModelV4, prompt: LanguageModelV4Prompt) {
  let body: string | undefined;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    body = String(init?.body);
    return new Response("{}", { status: 400 });
  };
  const failure = await Promise.resolve(make(fetch).doStream({ prompt, tools: head.tools })).catch(
    (error: unknown) => error,
  );
  assert.ok(body !== undefined, `The SDK refused the prompt: ${String(failure)}`);
  return JSON.parse(body) as never;
}

const apiKey = "none";
const sdks: [string, ProviderName, (fetch: typeof globalThis.fetch) => LanguageModelV4, (body: never) => string[]][] = [
  [
    "@ai-sdk/anthropic",
    "anthropic.messages",
    (fetch) => createAnthropic({ apiKey, fetch })("claude-sonnet-4-5"),
    checkAnthropic,
  ],
  ["@ai-sdk/openai chat", "openai.chat", (fetch) => createOpenAI({ apiKey, fetch }).chat("gpt-4.1"), checkOpenAIChat],
  [
    "@ai-sdk/openai responses",
    "openai.responses",
    (fetch) => createOpenAI({ apiKey, fetch }).responses("gpt-5"),
    checkOpenAIResponses,
  ],
  [
    "@ai-sdk/google, Gemini 3",
    "google.generative-ai",
    (fetch) => createGoogleGenerativeAI({ apiKey, fetch })("gemini-3-pro-preview"),
    checkGemini,
  ],
  [
    "@ai-sdk/google, Gemini 2.5",
    "google.generative-ai",
    (fetch) => createGoogleGenerativeAI({ apiKey, fetch })("gemini-2.5-flash"),
    checkGemini,
  ],
];

const askedBy = (provider: ProviderName, { seq, threadId }: DurableEvent): DurableEvent => ({
  type: "agent_start",
  v: 1,
  at: 0,
  seq: seq + 1,
  threadId,
  turnId: "asking",
  modeId: "default",
  modelId: `${provider}/some-model`,
  resumed: false,
});

for (const [name, provider, make, check] of sdks) {
  test(`${name} converts any prefix of any journal to a request that its provider accepts`, async () => {
    await fc.assert(
      fc.asyncProperty(journals, fc.nat(), async (events, at) => {
        const prefix = events.slice(0, 1 + (at % events.length));
        const transcript = [...prefix, askedBy(provider, prefix.at(-1)!)].reduce(reduceTranscript, emptyTranscript);
        const prompt = await toPrompt(head, transcript, async () => BLOB);
        assert.deepEqual(check(await bodyOf(make, prompt)), []);
      }),
      { numRuns: 200 },
    );
  });
}
