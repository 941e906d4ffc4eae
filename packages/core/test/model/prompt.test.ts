import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { emptyTranscript, reduceTranscript, toPrompt, type Head, type Transcript } from "@cinch/core/journal";
import type { DurableEvent } from "@cinch/core";
import * as fc from "fast-check";
import { BLOB, journals, PROVIDERS, type ProviderName } from "../../../testkit/src/journal.ts";
import {
  validateAnthropic,
  validateGemini,
  validateOpenAIChat,
  validateOpenAIResponses,
} from "../../../testkit/src/providers/index.ts";

const head: Head = {
  system: "You are a test.",
  tools: [{ type: "function", name: "read_file", description: "Reads", inputSchema: { type: "object" } }],
};

const promptOf = (transcript: Transcript): Promise<LanguageModelV4Prompt> =>
  toPrompt(head, transcript, async () => BLOB);

const validators: Record<ProviderName, (prompt: LanguageModelV4Prompt) => string[]> = {
  "anthropic.messages": (prompt) => validateAnthropic(prompt, head.tools),
  "openai.chat": (prompt) => validateOpenAIChat(prompt, head.tools),
  "openai.responses": (prompt) => validateOpenAIResponses(prompt, head.tools),
  "google.generative-ai": (prompt) => [
    ...validateGemini(prompt, head.tools),
    ...validateGemini(prompt, head.tools, { legacy: true }),
  ],
};

/** Begins a turn of this provider: without it, the provider would be that of the last answer. */
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

for (const provider of PROVIDERS) {
  test(`any prefix of any journal folds to a prompt that ${provider} accepts`, async () => {
    await fc.assert(
      fc.asyncProperty(journals, async (events) => {
        let transcript = emptyTranscript;
        for (const event of events) {
          transcript = reduceTranscript(transcript, event);
          const prompt = await promptOf(reduceTranscript(transcript, askedBy(provider, event)));
          assert.deepEqual(validators[provider](prompt), []);
        }
      }),
      { numRuns: 300 },
    );
  });
}
