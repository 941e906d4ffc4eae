import * as z from "zod/mini";

/** Any JSON value. Journal contents are JSON, so that a fold gives the same result in every process and in a browser. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export const Json: z.ZodMiniType<Json> = z.custom<Json>((value) => value !== undefined);

/** Data that the provider attached to a part, such as a reasoning signature. It is sent back to that provider unchanged. */
const meta = { providerMetadata: z.optional(z.record(z.string(), Json)) };

export const TextPart = z.lazy(() => z.object({ type: z.literal("text"), text: z.string(), ...meta }));
export const ReasoningPart = z.lazy(() => z.object({ type: z.literal("reasoning"), text: z.string(), ...meta }));
/** The bytes are in a blob, or at a URL. */
export const FilePart = z.lazy(() =>
  z.object({
    type: z.literal("file"),
    mediaType: z.string(),
    filename: z.optional(z.string()),
    blob: z.optional(z.string()),
    url: z.optional(z.string()),
    reasoning: z.optional(z.boolean()),
    ...meta,
  }),
);
export const ToolCallPart = z.lazy(() =>
  z.object({
    type: z.literal("tool-call"),
    toolCallId: z.string(),
    toolName: z.string(),
    input: Json,
    providerExecuted: z.optional(z.boolean()),
    ...meta,
  }),
);
/** The result of a tool that the provider ran itself. Results of our own tools are `tool_end` events. */
export const ProviderResultPart = z.lazy(() =>
  z.object({
    type: z.literal("tool-result"),
    toolCallId: z.string(),
    toolName: z.string(),
    result: Json,
    isError: z.optional(z.boolean()),
    ...meta,
  }),
);
export const SourcePart = z.lazy(() => z.object({ type: z.literal("source"), id: z.string(), source: Json, ...meta }));
export const CustomPart = z.lazy(() => z.object({ type: z.literal("custom"), kind: z.string(), ...meta }));

export const Part = z.lazy(() =>
  z.discriminatedUnion("type", [
    TextPart,
    ReasoningPart,
    FilePart,
    ToolCallPart,
    ProviderResultPart,
    SourcePart,
    CustomPart,
  ]),
);
export type Part = z.infer<typeof Part>;
export type TextPart = z.infer<typeof TextPart>;
export type FilePart = z.infer<typeof FilePart>;
export type ToolCallPart = z.infer<typeof ToolCallPart>;

export const Role = z.enum(["user", "assistant", "note"]);
export type Role = z.infer<typeof Role>;

/** A message, as the journal stores it. */
export const Message = z.lazy(() => z.object({ id: z.string(), role: Role, content: z.array(Part) }));
export type Message = z.infer<typeof Message>;

/** The result of a tool: `content` is for the model, `details` for the UI. */
export const ToolResult = z.lazy(() =>
  z.object({
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [TextPart, FilePart]))]),
    details: z.optional(Json),
  }),
);
export type ToolResult = z.infer<typeof ToolResult>;

export const Usage = z.lazy(() =>
  z.object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
    reasoningTokens: z.number(),
  }),
);
export type Usage = z.infer<typeof Usage>;

/** The text parts of a message or a tool result, joined. */
export function textOf(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The blobs that a message or a result refers to. */
export function blobsOf(content: string | readonly Part[]): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "file" && part.blob ? [part.blob] : []));
}
