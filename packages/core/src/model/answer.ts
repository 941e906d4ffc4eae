import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { Json, Part, Usage } from "../message.ts";
import type { Clock } from "../ports.ts";
import type { StreamModel } from "./compat.ts";
import { failureOf, type Failure } from "./failure.ts";

/** A model that says nothing for this long is taken for dead. */
export const SILENCE_MS = 60_000;

export interface Answer {
  content: Part[];
  /** Bytes of files that the model made, by the index of their part. */
  files: Map<number, Uint8Array>;
  /** Calls that can't be run as they came, with what to tell the model. */
  refused: Map<string, string>;
  finishReason: string;
  usage: Usage;
}

export type Outcome =
  | { kind: "answer"; answer: Answer }
  | { kind: "failed"; failure: Failure; partial: Part[] }
  | { kind: "aborted"; partial: Part[] };

/** What can be seen while the answer comes in. */
export interface AnswerSink {
  text(update: { index: number; part: "text" | "reasoning"; delta: string; content: readonly Part[] }): void;
  toolInput(update: { phase: "start" | "delta" | "end"; toolCallId: string; toolName: string; delta: string }): void;
}

export interface AnswerRequest {
  model: StreamModel;
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  signal: AbortSignal;
  clock: Clock;
  sink: AnswerSink;
}

/** One call of the model, to its end. Never rejects: a failure is a value. */
export async function streamAnswer({ model, prompt, tools, signal, clock, sink }: AnswerRequest): Promise<Outcome> {
  const builder = new AnswerBuilder(sink);
  const call = new AbortController();
  const watch = watchdog(clock, () => call.abort());
  const stop = () => call.abort();
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) return { kind: "aborted", partial: [] };
    const request = model.doStream({ prompt, ...(tools.length > 0 ? { tools } : {}), abortSignal: call.signal });
    const opened = await Promise.race([request, aborted(call.signal)]);
    if (opened)
      await consume(opened.stream.getReader(), call.signal, (part) => {
        watch.alive();
        builder.add(part);
      });
  } catch (error) {
    if (!call.signal.aborted) builder.failure ??= failureOf(error, builder.began ? "stream" : "request");
  } finally {
    signal.removeEventListener("abort", stop);
    watch.stop();
  }
  if (signal.aborted) return { kind: "aborted", partial: builder.content };
  if (watch.fired) return { kind: "failed", failure: silent, partial: builder.content };
  return builder.outcome();
}

const silent: Failure = {
  code: "PROVIDER_SILENT",
  message: `The model said nothing for ${SILENCE_MS / 1000} s.`,
  retryable: true,
};

async function consume(
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  add: (part: LanguageModelV4StreamPart) => void,
): Promise<void> {
  // A provider may ignore the signal: cancelling the reader ends a read that would hang.
  const cancel = () => {
    reader.cancel().catch(() => undefined);
  };
  signal.addEventListener("abort", cancel);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (signal.aborted) return;
      add(next.value);
      // Nothing comes after it, and a connection that stays open must not turn an answer into a silence.
      if (next.value.type === "finish") return cancel();
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));

/** One timer for a whole stream: a delta only notes the time. */
function watchdog(clock: Clock, bite: () => void) {
  let last = clock.now();
  let cancel = clock.after(SILENCE_MS, check);
  const watch = { fired: false, alive: () => void (last = clock.now()), stop: () => cancel() };
  function check() {
    const left = last + SILENCE_MS - clock.now();
    if (left > 0) cancel = clock.after(left, check);
    else {
      watch.fired = true;
      bite();
    }
  }
  return watch;
}

class AnswerBuilder {
  content: Part[] = [];
  began = false;
  failure: Failure | undefined;
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
    switch (part.type) {
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
        this.#finish = { reason: part.finishReason.unified, usage: usageOf(part.usage) };
        return;
      case "error":
        this.failure ??= failureOf(part.error, "stream");
        return;
    }
  }

  outcome(): Outcome {
    const partial = this.content;
    if (this.failure) return { kind: "failed", failure: this.failure, partial };
    if (!this.#finish) {
      const message = "The model's stream ended before its answer did.";
      return { kind: "failed", failure: { code: "PROVIDER_STREAM_CUT", message, retryable: true }, partial };
    }
    const { reason: finishReason, usage } = this.#finish;
    if (finishReason === "error") {
      const message = "The provider ended the answer with an error and did not say which.";
      return { kind: "failed", failure: { code: "PROVIDER_ERROR", message, retryable: true }, partial };
    }
    const content = this.content.filter((part) => part.type !== "text" || part.text !== "");
    const answer = { content, files: this.#filesIn(content), refused: this.#refused, finishReason, usage };
    return { kind: "answer", answer };
  }

  #grow(type: "text" | "reasoning", id: string, delta: string, providerMetadata: unknown): void {
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
    const toolCallId = this.#uniqueId(part.toolCallId);
    const repeats = this.#ids.has(part.toolCallId);
    this.#ids.add(part.toolCallId);
    if (input === undefined)
      this.#refused.set(toolCallId, `The arguments are not a JSON object: ${part.input.slice(0, 500)}`);
    if (repeats)
      this.#refused.set(
        toolCallId,
        "Two calls of this answer had one id. Only the first was run: call again if both were meant.",
      );
    const toolName = part.toolName.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
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
    this.#files.set(this.content.length, typeof data === "string" ? fromBase64(data) : data);
    this.#push(file);
  }

  /** Blank texts are gone by now, so parts have moved. */
  #filesIn(content: readonly Part[]): Map<number, Uint8Array> {
    return new Map([...this.#files].map(([at, bytes]) => [content.indexOf(this.content[at]!), bytes]));
  }

  #push(part: Part): void {
    this.began = true;
    this.content = [...this.content, part];
  }
}

/** Ids go back to the provider, so they are kept to what all of them take; and they are keys of records. */
function cleanId(id: string): string {
  const clean = id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60) || "call";
  return clean in {} ? `call_${clean}` : clean;
}

function metaOf({ providerMetadata }: { providerMetadata?: unknown }): { providerMetadata?: Record<string, Json> } {
  return providerMetadata === undefined ? {} : { providerMetadata: plain(providerMetadata) as Record<string, Json> };
}

/** As the journal will give it back: an SDK may leave `undefined` in what it attaches, and JSON has none. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? "null") as Json;

/** Arguments are an object; anything else is a mistake of the model. No arguments at all mean none. */
function parseArgs(text: string): Json | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function usageOf(usage: LanguageModelV4Usage | undefined): Usage {
  return {
    inputTokens: usage?.inputTokens?.total ?? 0,
    outputTokens: usage?.outputTokens?.total ?? 0,
    cacheReadTokens: usage?.inputTokens?.cacheRead ?? 0,
    cacheWriteTokens: usage?.inputTokens?.cacheWrite ?? 0,
    reasoningTokens: usage?.outputTokens?.reasoning ?? 0,
  };
}

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
