import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import * as z from "zod/mini";
import { Json } from "../events/message.ts";

const REASONING = ["provider-default", "none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const Option = z.custom<Json>((value) => Json.safeParse(value).success, "must be JSON");

/** What a model is called with, besides the prompt. `providerOptions` are by provider, as the AI SDK takes them. */
export const Settings = z.strictObject({
  temperature: z.optional(z.number()),
  topP: z.optional(z.number()),
  topK: z.optional(z.number()),
  maxOutputTokens: z.optional(z.int().check(z.gte(1))),
  stopSequences: z.optional(z.array(z.string())),
  seed: z.optional(z.int()),
  reasoning: z.optional(z.enum(REASONING)),
  headers: z.optional(z.record(z.string(), z.string())),
  providerOptions: z.optional(z.record(z.string(), z.record(z.string(), Option))),
});
export type Settings = z.infer<typeof Settings>;

/** The settings of a mode override those of its agent: key by key, also within headers and the options of a provider. */
export function mergeSettings(agent: Settings, mode: Settings): CallSettings {
  const providerOptions = Object.entries({ ...agent.providerOptions, ...mode.providerOptions }).map(([provider]) => {
    const options = { ...agent.providerOptions?.[provider], ...mode.providerOptions?.[provider] };
    return [provider, options] as const;
  });
  const headers = { ...agent.headers, ...mode.headers };
  const merged = {
    ...withoutUndefined(agent),
    ...withoutUndefined(mode),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(providerOptions.length > 0 ? { providerOptions: Object.fromEntries(providerOptions) } : {}),
  };
  return merged as CallSettings;
}

/** The settings in the types of the AI SDK. */
export type CallSettings = Pick<LanguageModelV4CallOptions, keyof Settings | "toolChoice">;

const withoutUndefined = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
