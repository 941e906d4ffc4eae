import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { fromBase64 } from "../events/base64.ts";
import { Part as PartSchema, type Json, type Part, type Usage } from "../events/message.ts";
import { MISFIT, copierOf } from "../events/schema-copy.ts";
import { asText } from "../tools/tool.ts";
import type { AnswerSink, AnswerOutcome } from "./answer.ts";
import { AnswerSize, MAX_CALLS, truncate } from "./answer-limits.ts";
import { modelFailure, type ModelFailure } from "./failure.ts";

const copyPart = copierOf(PartSchema);

/** Of text: its place in `content`, and its index among the streamed texts. */
interface Block {
  at: number;
  index: number | undefined;
}

/** Builds an answer from the parts of a stream. Never throws for a malformed part. */
export class AnswerBuilder {
  /** Does not change once the sink has it. */
  content: Part[] = [];
  hasStarted = false;
  failure: ModelFailure | undefined;
  readonly size = new AnswerSize();
  readonly #sink: AnswerSink;
  readonly #files = new Map<number, Uint8Array>();
  readonly #refused = new Map<string, string>();
  /** The open text blocks by id. A text and a reasoning may have the same. */
  readonly #blocks = { text: new Map<string, Block>(), reasoning: new Map<string, Block>() };
  /** The ids of calls, as the provider gave them. */
  readonly #callIds = new Set<string>();
  /** By call id, the tool whose arguments are streaming. */
  readonly #streamingTools = new Map<string, string>();
  #textCount = 0;
  /** The place of the block that got its first text last. */
  #lastTextAt = 0;
  #isShared = false;
  #finish: { reason: string; usage: Usage } | undefined;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** Ignores parts of unknown types: providers often add new ones. */
  add(part: LanguageModelV4StreamPart): void {
    this.size.add(part);
    if (this.size.isTooLarge) return;
    switch (part?.type) {
      case "text-delta":
        return this.#appendText("text", part.id, part.delta, part.providerMetadata);
      case "reasoning-delta":
        return this.#appendText("reasoning", part.id, part.delta, part.providerMetadata);
      case "text-start":
        return this.#appendText("text", part.id, "", part.providerMetadata);
      case "reasoning-start":
        return this.#appendText("reasoning", part.id, "", part.providerMetadata);
      case "text-end":
        return this.#closeText("text", part.id, part.providerMetadata);
      case "reasoning-end":
        return this.#closeText("reasoning", part.id, part.providerMetadata);
      case "tool-input-start":
        this.hasStarted = true;
        if (this.#streamingTools.size >= MAX_CALLS) return;
        this.#streamingTools.set(part.id, part.toolName);
        return this.#sink.toolInput({
          phase: "start",
          toolCallId: cleanId(part.id),
          toolName: part.toolName,
          delta: "",
        });
      case "tool-input-delta":
      case "tool-input-end": {
        const phase = part.type === "tool-input-end" ? "end" : "delta";
        const toolName = this.#streamingTools.get(part.id);
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
          result: plainJson(part.result),
          ...(isError ? { isError } : {}),
          ...metaOf(part),
        });
      }
      case "file":
      case "reasoning-file":
        return this.#file(part);
      case "source": {
        const { type: _, id, providerMetadata: __, ...source } = part;
        return this.#push({ type: "source", id, source: plainJson(source), ...metaOf(part) });
      }
      case "custom":
        return this.#push({ type: "custom", kind: part.kind, ...metaOf(part) });
      case "finish":
        this.#finish = { reason: asText(part.finishReason?.unified ?? "other"), usage: usageOf(part.usage) };
        return;
      case "error":
        this.failure ??= modelFailure(part.error, "stream");
        return;
    }
  }

  outcome(): AnswerOutcome {
    const { problem, isTooLarge } = this.size;
    if (isTooLarge) {
      const { content: read } = this;
      const { reason: finishReason, usage } = this.#finish ?? {
        reason: "length",
        usage: this.size.estimatedUsage(read),
      };
      const content = truncate(read);
      return {
        kind: "answer",
        answer: { content, files: new Map(), refused: new Map(), finishReason, usage, problem },
      };
    }
    const failure = this.failure ?? this.#incomplete();
    if (failure) {
      const usage = this.#finish ? { usage: this.#finish.usage } : {};
      return { kind: "failed", failure, partial: this.content, ...usage };
    }
    const { reason: finishReason, usage } = this.#finish!;
    const content = this.content.filter((part) => part.type !== "text" || part.text !== "").map(wellFormed);
    const answer = { content, files: this.#filesIn(content), refused: this.#refused, finishReason, usage, problem };
    return { kind: "answer", answer };
  }

  #incomplete(): ModelFailure | null {
    // Some SDKs end a stream that broke off as if it were whole, and say so in its reason only.
    if (!this.#finish || this.#finish.reason === "interrupted") {
      const message = "The model's stream ended before its answer was complete.";
      return { code: "PROVIDER_STREAM_CUT", message, retryable: true };
    }
    if (this.#finish.reason !== "error") return null;
    const message = "The provider ended the answer with an error and gave no details.";
    return { code: "PROVIDER_ERROR", message, retryable: true };
  }

  #appendText(type: "text" | "reasoning", id: string, delta: unknown, providerMetadata: unknown): void {
    if (typeof delta !== "string") return;
    const blocks = this.#blocks[type];
    let block = blocks.get(id);
    if (!block) {
      blocks.set(id, (block = { at: this.content.length, index: undefined }));
      this.#push({ type, text: "" });
    }
    const before = this.content[block.at] as Extract<Part, { type: "text" | "reasoning" }> | undefined;
    if (!before || (delta === "" && providerMetadata === undefined)) return;
    const grown = { ...before, text: before.text + delta };
    this.#ownContent()[block.at] = providerMetadata ? { ...grown, ...metaOf({ providerMetadata }) } : grown;
    if (delta === "") return;
    block.index ??= this.#nextIndex(block);
    this.#isShared = true;
    this.#sink.text({ index: block.index, part: type, delta, content: this.content });
  }

  /**
   * A block gets its index with its first text: an empty block is not shown, and would leave a gap. The blocks that have text stand in the
   * order of their indexes, so that a subscriber that got the deltas knows them again in the complete message.
   */
  #nextIndex(block: Block): number {
    if (block.at < this.#lastTextAt) {
      const content = this.#ownContent();
      content.push(content[block.at]!);
      // Empty texts are not kept.
      content[block.at] = { type: "text", text: "" };
      block.at = content.length - 1;
    }
    this.#lastTextAt = block.at;
    return this.#textCount++;
  }

  /** Some providers reuse an id for the next block. */
  #closeText(type: "text" | "reasoning", id: string, providerMetadata: unknown): void {
    this.#appendText(type, id, "", providerMetadata);
    this.#blocks[type].delete(id);
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
    const isDuplicate = this.#callIds.has(part.toolCallId);
    this.#callIds.add(part.toolCallId);
    if (input === undefined)
      this.#refused.set(toolCallId, `The arguments are not a JSON object: ${asText(part.input).slice(0, 500)}`);
    if (isDuplicate)
      this.#refused.set(
        toolCallId,
        "Two calls of this answer had the same id. Only the first was run: call again if you need both.",
      );
    const toolName =
      asText(part.toolName ?? "")
        .replace(/[^A-Za-z0-9_-]/g, "_")
        .slice(0, 64) || "unnamed";
    this.#push({ type: "tool-call", toolCallId, toolName, input: input ?? {}, ...metaOf(part) });
  }

  #uniqueId(id: string): string {
    const clean = cleanId(id);
    const used = new Set(this.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])));
    let unique = clean;
    for (let n = 2; used.has(unique); n++) unique = `${clean}_${n}`;
    return unique;
  }

  #file(part: LanguageModelV4StreamPart & { type: "file" | "reasoning-file" }): void {
    const reasoning = part.type === "reasoning-file" ? { reasoning: true } : {};
    const file = { type: "file" as const, mediaType: part.mediaType, ...reasoning, ...metaOf(part) };
    if (part.data?.type === "url") return this.#push({ ...file, url: String(part.data.url) });
    const bytes = bytesOf(part.data?.data);
    if (!bytes) return;
    const at = this.content.length;
    this.#push(file);
    if (this.content.length > at) this.#files.set(at, bytes);
  }

  /** `content` lacks the empty texts, so the indexes of its parts have changed. */
  #filesIn(content: readonly Part[]): Map<number, Uint8Array> {
    const places = new Map(content.map((part, at) => [part, at]));
    return new Map([...this.#files].map(([at, bytes]) => [places.get(this.content[at]!)!, bytes]));
  }

  /** Drops a malformed part: it must not make the whole answer fail. */
  #push(part: Part): void {
    this.hasStarted = true;
    if (copyPart(part) === MISFIT) return;
    this.size.parts++;
    if (!this.size.isTooLarge) this.#ownContent().push(part);
  }

  /** Copied only if the sink has it: otherwise each of many parts would copy all before it. */
  #ownContent(): Part[] {
    if (this.#isShared) this.content = this.content.slice();
    this.#isShared = false;
    return this.content;
  }
}

/** Ids go back to the provider, so only characters that every provider accepts are kept. Ids are also keys of objects. */
function cleanId(id: string): string {
  const clean =
    asText(id ?? "")
      .replace(/[^A-Za-z0-9_-]/g, "_")
      .slice(0, 60) || "call";
  return clean in {} ? `call_${clean}` : clean;
}

/** Some providers refuse a prompt with lone surrogates. */
const wellFormed = (part: Part): Part =>
  part.type === "text" && !part.text.isWellFormed() ? { ...part, text: part.text.toWellFormed() } : part;

function metaOf({ providerMetadata }: { providerMetadata?: unknown }): { providerMetadata?: Record<string, Json> } {
  const plain = providerMetadata === undefined ? null : plainJson(providerMetadata);
  return typeof plain !== "object" || plain === null || Array.isArray(plain) ? {} : { providerMetadata: plain };
}

/** The value as the journal returns it: without the `undefined` fields that an SDK may leave. `null` for a value that has no JSON. */
function plainJson(value: unknown): Json {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null") as Json;
  } catch {
    return null;
  }
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (typeof data !== "string") return data instanceof Uint8Array ? data : undefined;
  try {
    return fromBase64(data);
  } catch {
    return undefined;
  }
}

/** `undefined`: the arguments are not a JSON object. Missing arguments are an empty object. */
function parseArgs(text: unknown): Json | undefined {
  if (text === undefined || (typeof text === "string" && text.trim() === "")) return {};
  try {
    const value: unknown = typeof text === "string" ? JSON.parse(text) : plainJson(text);
    // Throws for a value that is nested too deep to be stored, although it could be parsed.
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
