import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, defineTool, Harness, memoryStore, type HarnessEvent, type LanguageModel } from "@cinch/core";
import { LLMock } from "@copilotkit/aimock";
import * as z from "zod";
import { checkAnthropic, checkOpenAIChat, checkOpenAIResponses } from "../../../testkit/src/providers/index.ts";
import { fastClock } from "./providers-clock.ts";
import { permissions } from "../support.ts";

type Fetch = typeof globalThis.fetch;
export type Body = Record<string, unknown> & {
  messages: { role: string; content: unknown }[];
  input: Record<string, unknown>[];
};

/** The real SDKs, with a validator for the requests of their provider. */
export const sdks = {
  anthropic: {
    model: (baseURL: string, fetch: Fetch): LanguageModel =>
      createAnthropic({ apiKey: "none", baseURL, fetch })("claude-sonnet-4-5"),
    check: checkAnthropic as (body: never) => string[],
  },
  "openai chat": {
    model: (baseURL: string, fetch: Fetch): LanguageModel =>
      createOpenAI({ apiKey: "none", baseURL, fetch }).chat("gpt-4.1"),
    check: checkOpenAIChat as (body: never) => string[],
  },
  "openai responses": {
    model: (baseURL: string, fetch: Fetch): LanguageModel =>
      createOpenAI({ apiKey: "none", baseURL, fetch }).responses("gpt-5"),
    check: checkOpenAIResponses as (body: never) => string[],
  },
};
export type SdkName = keyof typeof sdks;

const add = defineTool({
  description: "Adds one",
  category: "read",
  input: z.object({ a: z.number() }),
  execute: ({ a }) => `${a + 1}`,
});

/** A harness with a real SDK and a local server. The clock is a hundred times faster, so that retries are quick. */
export async function mocked(
  name: SdkName,
  script: (mock: LLMock) => void,
  intercept?: (nth: number) => Response | undefined,
) {
  const mock = new LLMock({ port: 0 });
  script(mock);
  await mock.start();
  const bodies: Body[] = [];
  const fetch: Fetch = async (url, init) => {
    bodies.push(JSON.parse(String(init?.body)) as Body);
    return intercept?.(bodies.length) ?? globalThis.fetch(url, init);
  };
  const model = sdks[name].model(`${mock.url}/v1`, fetch);
  const agent = new Agent({ name: "tester", model, instructions: "Test.", tools: { add } });
  const harness = new Harness({ id: "test", agent, storage: memoryStore(), clock: fastClock(100), permissions });
  await harness.createThread();
  const seen: HarnessEvent[] = [];
  harness.subscribe((event) => seen.push(event));
  return {
    harness,
    seen,
    bodies,
    problems: () => bodies.flatMap((body) => sdks[name].check(body as never)),
    async [Symbol.asyncDispose]() {
      await harness.close();
      await mock.stop();
    },
  };
}

export const of = <T extends HarnessEvent["type"]>(seen: readonly HarnessEvent[], type: T) =>
  seen.filter((event): event is Extract<HarnessEvent, { type: T }> => event.type === type);
