import type {
  LanguageModelV2,
  LanguageModelV2Prompt,
  LanguageModelV3,
  LanguageModelV3Prompt,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { toBase64 } from "../events/base64.ts";
import { CinchError } from "../errors.ts";

/** A language model of the AI SDK, in any of the three versions of its interface that are in use. */
export type LanguageModel = LanguageModelV4 | LanguageModelV3 | LanguageModelV2;

/** The part of the newest interface that the turn loop uses. */
export type StreamModel = Pick<LanguageModelV4, "provider" | "modelId" | "doStream">;

/** Also behind other providers: "bedrock.anthropic.messages", "vertex.anthropic.messages", and the gateway of the AI SDK. */
export const isAnthropic = ({ provider, modelId }: Pick<StreamModel, "provider" | "modelId">): boolean =>
  provider.split(".").includes("anthropic") || (provider === "gateway" && modelId.startsWith("anthropic/"));

export const isLanguageModel = (value: unknown): value is LanguageModel =>
  typeof value === "object" && value !== null && "doStream" in value && "specificationVersion" in value;

/** Adapts a model of an older version to the newest interface. */
export function asV4(model: LanguageModel): StreamModel {
  switch (model.specificationVersion) {
    case "v4":
      return model;
    case "v3":
    case "v2":
      return { provider: model.provider, modelId: model.modelId, doStream: (options) => streamOlder(model, options) };
    default: {
      const { specificationVersion } = model as { specificationVersion: unknown };
      throw new CinchError(
        "INVALID_CONFIG",
        `A model with specification ${String(specificationVersion)} is not supported: use an AI SDK provider of v2, v3 or v4.`,
      );
    }
  }
}

async function streamOlder(model: OldModel, options: LanguageModelV4CallOptions) {
  const prompt = downgradePrompt(options.prompt, model.specificationVersion);
  // Of the options that are used, only the prompt differs between the versions.
  const result = await (model.doStream as (options: unknown) => PromiseLike<{ stream: ReadableStream }>)({
    ...options,
    prompt,
  });
  return {
    stream: result.stream.pipeThrough(
      new TransformStream<{ type: string }, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(upgradePart(part, model)),
      }),
    ),
  };
}

type OldModel = LanguageModelV3 | LanguageModelV2;

function upgradePart(part: { type: string }, model: OldModel): LanguageModelV4StreamPart {
  const old = part as Record<string, unknown>;
  switch (part.type) {
    case "finish":
      return { ...old, ...upgradeFinish(old, model) } as LanguageModelV4StreamPart;
    case "file":
      return { ...old, data: { type: "data", data: old["data"] } } as LanguageModelV4StreamPart;
    default:
      return part as LanguageModelV4StreamPart;
  }
}

function upgradeFinish(old: Record<string, unknown>, model: OldModel): object {
  const { finishReason, usage } = old;
  const reason = typeof finishReason === "string" ? { unified: finishReason, raw: finishReason } : finishReason;
  const isNew = typeof (usage as { inputTokens?: unknown } | null | undefined)?.inputTokens === "object";
  return { finishReason: reason, usage: isNew ? usage : upgradeUsage(old, model) };
}

function upgradeUsage({ usage, providerMetadata }: Record<string, unknown>, model: OldModel): LanguageModelV4Usage {
  const old = (usage ?? {}) as Partial<Record<string, number>>;
  const { inputTokens, cachedInputTokens: cacheRead, outputTokens, reasoningTokens: reasoning } = old;
  const cacheWrite = writtenTokens(providerMetadata);
  // Of Anthropic's models, only the tokens that the cache has nothing to do with are reported as input.
  const isPart = isAnthropic(model) && inputTokens !== undefined;
  const total = isPart ? inputTokens + (cacheRead ?? 0) + (cacheWrite ?? 0) : inputTokens;
  return {
    inputTokens: { total, noCache: undefined, cacheRead, cacheWrite },
    outputTokens: { total: outputTokens, text: undefined, reasoning },
  };
}

/** The older interface has no field for it. */
function writtenTokens(providerMetadata: unknown): number | undefined {
  const { anthropic } = (providerMetadata ?? {}) as { anthropic?: { cacheCreationInputTokens?: unknown } };
  const written = anthropic?.cacheCreationInputTokens;
  return typeof written === "number" ? written : undefined;
}

/** In older versions, a file part holds bytes or a URL directly, and files in tool results have other types. */
function downgradePrompt(
  prompt: LanguageModelV4Prompt,
  version: "v2" | "v3",
): LanguageModelV2Prompt | LanguageModelV3Prompt {
  return prompt.map((message) => {
    if (message.role === "system") return message;
    return { ...message, content: message.content.flatMap((part) => downgradePart(part, version)) };
  }) as LanguageModelV2Prompt | LanguageModelV3Prompt;
}

type V4Part = Exclude<LanguageModelV4Prompt[number], { role: "system" }>["content"][number];
type FileData = Extract<V4Part, { type: "file" }>["data"];

function downgradePart(part: V4Part, version: "v2" | "v3"): unknown[] {
  if (part.type === "custom" || part.type === "reasoning-file") return [];
  if (part.type === "file") return [{ ...part, data: downgradeData(part.data) }];
  if (part.type !== "tool-result" || part.output.type !== "content") return [part];
  const value = part.output.value.flatMap((item): unknown[] => {
    if (item.type !== "file") return item.type === "text" ? [item] : [];
    const data = downgradeData(item.data);
    if (data instanceof URL) return [{ type: "text", text: data.href }];
    const { mediaType } = item;
    return [
      {
        type: version === "v2" ? "media" : "file-data",
        data: typeof data === "string" ? data : toBase64(data),
        mediaType,
      },
    ];
  });
  return [{ ...part, output: { type: "content", value } }];
}

function downgradeData(data: FileData): Uint8Array | string | URL {
  if (data.type === "data") return data.data;
  if (data.type === "url") return data.url;
  if (data.type === "text") return new TextEncoder().encode(data.text);
  throw new CinchError("INVALID_INPUT", "A file by provider reference needs a model with specification v4.");
}
