import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { fromBase64 } from "../events/base64.ts";
import { noUsage } from "../events/usage.ts";
import { Part as PartSchema, type Json, type Part, type Usage } from "../events/message.ts";
import { asText } from "../tools/tool.ts";
import type { AnswerSink, Outcome } from "./answer.ts";
import { AnswerSize, cutDown, MAX_CALLS } from "./answer-limits.ts";
import { failureOf, type Failure } from "./failure.ts";

/** Puts an answer together from the parts of a stream, whatever they are. */
export class AnswerBuilder {
  content: Part[] = [];
  began = false;
  failure: Failure | undefined;
  readonly size = new AnswerSize();
  readonly #sink: AnswerSink;
  readonly #files = new Map<number, Uint8Array>();
  readonly #refused = new Map<string, string>();
  /** Where the text blocks that are open stand in `content`, and which of the streamed texts each is. */
  readonly #blocks = new Map<string, { at: number; index: number | undefined }>();
  readonly #ids = new Set<string>();
  readonly #inputs = new Map<string, string>();
  #texts = 0;
  #finish: { reason: string; usage: Usage } | undefined;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** Parts of kinds that are not known are passed over: providers add some every month. */
  add(part: LanguageModelV4StreamPart): void {
    this.size.add(part);
    if (this.size.isTooLarge) return;
    switch (part?.type) {
      case "text-delta":
        return this.#grow("text", part.id, part.delta, part.providerMetadata);
      case "reasoning-delta":
        return this.#grow("reasoning", part.id, part.delta, part.providerMetadata);
      case "text-start":
        return this.#grow("text", part.id, "", part.providerMetadata);
      case "reasoning-start":
        return this.#grow("reasoning", part.id, "", part.providerMetadata);
      case "text-end":
        return this.#close("text", part.id, part.providerMetadata);
      case "reasoning-end":
        return this.#close("reasoning", part.id, part.providerMetadata);
      case "tool-input-start":
        this.began = true;
        if (this.#inputs.size >= MAX_CALLS) return;
        this.#inputs.set(part.id, part.toolName);
        return this.#sink.toolInput({
          phase: "start",
          toolCallId: cleanId(part.id),
          toolName: part.toolName,
          delta: "",
        });
      case "tool-input-delta":
      case "tool-input-end": {
        const phase = part.type === "tool-input-end" ? "end" : "delta";
        const toolName = this.#inputs.get(part.id);
        if (toolName === undefined) return;
        return this.#sink.toolInput({
          phase,
          toolCallId: cleanId(part.id),
          toolName,
          delta: "delta" in part ? part.delta : "",
        });
      }
      case "tool-call":
        return this.#call(part);
      case "tool-result": {
        if (part.preliminary) return;
        const { toolCallId, toolName, isError } = part;
        return this.#push({
          type: "tool-result",
          toolCallId,
          toolName,
          result: plain(part.result),
          ...(isError ? { isError } : {}),
          ...metaOf(part),
        });
      }
      case "file":
      case "reasoning-file":
        return this.#file(part);
      case "source": {
        const { type: _, id, providerMetadata: __, ...source } = part;
        return this.#push({ type: "source", id, source: plain(source), ...metaOf(part) });
      }
      case "custom":
        return this.#push({ type: "custom", kind: part.kind, ...metaOf(part) });
      case "finish":
        this.#finish = { reason: asText(part.finishReason?.unified ?? "other"), usage: usageOf(part.usage) };
        return;
      case "error":
        this.failure ??= failureOf(part.error, "stream");
        return;
    }
  }

  outcome(): Outcome {
    const { problem, isTooLarge } = this.size;
    if (isTooLarge) {
      const { reason: finishReason, usage } = this.#finish ?? { reason: "length", usage: noUsage };
      const content = cutDown(this.content);
      return {
        kind: "answer",
        answer: { content, files: new Map(), refused: new Map(), finishReason, usage, problem },
      };
    }
    const failure = this.failure ?? this.#incomplete();
    if (failure) {
      const used = this.#finish ? { usage: this.#finish.usage } : {};
      return { kind: "failed", failure, partial: this.content, ...used };
    }
    const { reason: finishReason, usage } = this.#finish!;
    const content = this.content.filter((part) => part.type !== "text" || part.text !== "").map(wellFormed);
    const answer = { content, files: this.#filesIn(content), refused: this.#refused, finishReason, usage, problem };
    return { kind: "answer", answer };
  }

  #incomplete(): Failure | null {
    if (!this.#finish) {
      const message = "The model's stream ended before its answer did.";
      return { code: "PROVIDER_STREAM_CUT", message, retryable: true };
    }
    if (this.#finish.reason !== "error") return null;
    const message = "The provider ended the answer with an error and did not say which.";
    return { code: "PROVIDER_ERROR", message, retryable: true };
  }

  #grow(type: "text" | "reasoning", id: string, delta: unknown, providerMetadata: unknown): void {
    if (typeof delta !== "string") return;
    const key = `${type} ${id}`;
    let block = this.#blocks.get(key);
    if (!block) {
      this.#blocks.set(key, (block = { at: this.content.length, index: undefined }));
      this.#push({ type, text: "" });
    }
    const before = this.content[block.at] as Extract<Part, { type: "text" | "reasoning" }>;
    if (delta === "" && providerMetadata === undefined) return;
    this.content = this.content.with(block.at, {
      ...before,
      text: before.text + delta,
      ...metaOf({ providerMetadata }),
    });
    if (delta === "") return;
    // Counted from its first word on: a block without any is not seen, and would leave a hole.
    block.index ??= this.#texts++;
    this.#sink.text({ index: block.index, part: type, delta, content: this.content });
  }

  /** Some providers use an id again for the next block. */
  #close(type: "text" | "reasoning", id: string, providerMetadata: unknown): void {
    this.#grow(type, id, "", providerMetadata);
    this.#blocks.delete(`${type} ${id}`);
  }

  #call(part: LanguageModelV4StreamPart & { type: "tool-call" }): void {
    const input = parseArgs(part.input);
    if (part.providerExecuted) {
      const { toolCallId, toolName } = part;
      const call = { type: "tool-call" as const, toolCallId, toolName, input: input ?? {}, providerExecuted: true };
      return this.#push({ ...call, ...metaOf(part) });
    }
    this.size.calls++;
    if (this.size.hasTooManyCalls) return;
    const toolCallId = this.#uniqueId(part.toolCallId);
    const repeats = this.#ids.has(part.toolCallId);
    this.#ids.add(part.toolCallId);
    if (input === undefined)
      this.#refused.set(toolCallId, `The arguments are not a JSON object: ${asText(part.input).slice(0, 500)}`);
    if (repeats)
      this.#refused.set(
        toolCallId,
        "Two calls of this answer had one id. Only the first was run: call again if both were meant.",
      );
    const toolName =
      asText(part.toolName ?? "")
        .replace(/[^A-Za-z0-9_-]/g, "_")
        .slice(0, 64) || "unnamed";
    this.#push({ type: "tool-call", toolCallId, toolName, input: input ?? {}, ...metaOf(part) });
  }

  #uniqueId(id: string): string {
    const clean = cleanId(id);
    const taken = new Set(this.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])));
    let unique = clean;
    for (let n = 2; taken.has(unique); n++) unique = `${clean}_${n}`;
    return unique;
  }

  #file(part: LanguageModelV4StreamPart & { type: "file" | "reasoning-file" }): void {
    const reasoning = part.type === "reasoning-file" ? { reasoning: true } : {};
    const file = { type: "file" as const, mediaType: part.mediaType, ...reasoning, ...metaOf(part) };
    if (part.data.type === "url") return this.#push({ ...file, url: String(part.data.url) });
    const { data } = part.data;
    const at = this.content.length;
    this.#push(file);
    if (this.content.length > at) this.#files.set(at, typeof data === "string" ? fromBase64(data) : data);
  }

  /** Blank texts are gone by now, so parts have moved. */
  #filesIn(content: readonly Part[]): Map<number, Uint8Array> {
    return new Map([...this.#files].map(([at, bytes]) => [content.indexOf(this.content[at]!), bytes]));
  }

  /** What does not have the shape of a part is left out: a provider's slip must not cost the whole answer. */
  #push(part: Part): void {
    this.began = true;
    if (PartSchema.safeParse(part).success) this.content = [...this.content, part];
  }
}

/** Ids go back to the provider, so they are kept to what all of them take; and they are keys of records. */
function cleanId(id: string): string {
  const clean =
    asText(id ?? "")
      .replace(/[^A-Za-z0-9_-]/g, "_")
      .slice(0, 60) || "call";
  return clean in {} ? `call_${clean}` : clean;
}

/** Half a character is refused by some when it is sent back. */
const wellFormed = (part: Part): Part =>
  part.type === "text" && !part.text.isWellFormed() ? { ...part, text: part.text.toWellFormed() } : part;

function metaOf({ providerMetadata }: { providerMetadata?: unknown }): { providerMetadata?: Record<string, Json> } {
  return typeof providerMetadata !== "object" || providerMetadata === null
    ? {}
    : { providerMetadata: plain(providerMetadata) as Record<string, Json> };
}

/** As the journal will give it back: an SDK may leave `undefined` in what it attaches, and JSON has none. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? "null") as Json;

/** Arguments are an object; anything else is a mistake of the model. No arguments at all mean none. */
function parseArgs(text: unknown): Json | undefined {
  if (text === undefined || (typeof text === "string" && text.trim() === "")) return {};
  try {
    const value: unknown = typeof text === "string" ? JSON.parse(text) : plain(text);
    // What is nested too deep for our own use can be parsed all the same.
    JSON.stringify(value);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function usageOf(usage: LanguageModelV4Usage | undefined): Usage {
  const count = (tokens: unknown) => (typeof tokens === "number" && Number.isFinite(tokens) ? tokens : 0);
  return {
    inputTokens: count(usage?.inputTokens?.total),
    outputTokens: count(usage?.outputTokens?.total),
    cacheReadTokens: count(usage?.inputTokens?.cacheRead),
    cacheWriteTokens: count(usage?.inputTokens?.cacheWrite),
    reasoningTokens: count(usage?.outputTokens?.reasoning),
  };
}
