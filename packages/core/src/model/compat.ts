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

async function streamOlder(model: LanguageModelV3 | LanguageModelV2, options: LanguageModelV4CallOptions) {
  const prompt = downgradePrompt(options.prompt, model.specificationVersion);
  // Of the options that are used, only the prompt differs between the versions.
  const result = await (model.doStream as (options: unknown) => PromiseLike<{ stream: ReadableStream }>)({
    ...options,
    prompt,
  });
  return {
    stream: result.stream.pipeThrough(
      new TransformStream<{ type: string }, LanguageModelV4StreamPart>({ transform: upgradePart }),
    ),
  };
}

function upgradePart(
  part: { type: string },
  controller: TransformStreamDefaultController<LanguageModelV4StreamPart>,
): void {
  const old = part as Record<string, unknown>;
  switch (part.type) {
    case "finish":
      return controller.enqueue({ ...old, ...upgradeFinish(old) } as LanguageModelV4StreamPart);
    case "file":
      return controller.enqueue({ ...old, data: { type: "data", data: old["data"] } } as LanguageModelV4StreamPart);
    default:
      return controller.enqueue(part as LanguageModelV4StreamPart);
  }
}

function upgradeFinish({ finishReason, usage }: Record<string, unknown>): object {
  const reason = typeof finishReason === "string" ? { unified: finishReason, raw: finishReason } : finishReason;
  return { finishReason: reason, usage: upgradeUsage(usage) };
}

function upgradeUsage(usage: unknown): LanguageModelV4Usage {
  const old = (usage ?? {}) as Record<string, unknown>;
  if (typeof old["inputTokens"] === "object" && old["inputTokens"] !== null) return old as LanguageModelV4Usage;
  const count = (name: string) => old[name] as number | undefined;
  return {
    inputTokens: {
      total: count("inputTokens"),
      noCache: undefined,
      cacheRead: count("cachedInputTokens"),
      cacheWrite: undefined,
    },
    outputTokens: { total: count("outputTokens"), text: undefined, reasoning: count("reasoningTokens") },
  };
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
