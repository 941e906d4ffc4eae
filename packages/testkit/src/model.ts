import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";

type Part = LanguageModelV4StreamPart;
/** One answer of the scripted model: the parts that it streams. It may wait, throw, or never end. */
export type Step = (options: LanguageModelV4CallOptions) => AsyncIterable<Part> | Iterable<Part>;

export interface ScriptedModel extends LanguageModelV4 {
  /** The requests that it received, in order. */
  readonly requests: LanguageModelV4CallOptions[];
}

const usage = (input: number, output: number) => ({
  inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: output, text: output, reasoning: 0 },
});

export const finish = (reason: "stop" | "tool-calls" | "length" | "content-filter" | "error" | "other"): Part => ({
  type: "finish",
  finishReason: { unified: reason, raw: reason },
  usage: usage(100, 10),
});

/** Streams a text, in deltas of `size` characters. */
export const say = (text: string, { size = 5, delayMs = 0 } = {}): Step =>
  async function* () {
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "t" };
    for (let at = 0; at < text.length; at += size) {
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      yield { type: "text-delta", id: "t", delta: text.slice(at, at + size) };
    }
    yield { type: "text-end", id: "t" };
    yield finish("stop");
  };

/** Calls a tool, or several at once: `call("add", { a: 1 })`, `call(["add", { a: 1 }, "id1"], ["add", { a: 2 }, "id2"])`. */
export function call(name: string, args?: unknown, id?: string): Step;
export function call(...calls: [name: string, args?: unknown, id?: string][]): Step;
export function call(...args: unknown[]): Step {
  const calls = (Array.isArray(args[0]) ? args : [args]) as [string, unknown?, string?][];
  return function* (options) {
    const turns = options.prompt.filter((message) => message.role === "assistant").length;
    yield { type: "stream-start", warnings: [] };
    for (const [at, [toolName, input = {}, toolCallId = `call-${turns}-${at}`]] of calls.entries()) {
      const text = typeof input === "string" ? input : JSON.stringify(input);
      yield { type: "tool-input-start", id: toolCallId, toolName };
      yield { type: "tool-input-delta", id: toolCallId, delta: text };
      yield { type: "tool-input-end", id: toolCallId };
      yield { type: "tool-call", toolCallId, toolName, input: text };
    }
    yield finish("tool-calls");
  };
}

/** Streams exactly these parts. */
export const parts = (...stream: Part[]): Step =>
  function* () {
    yield* stream;
  };

/** Fails before the first part, as the SDK of a provider does. */
export const fail = (error: unknown): Step =>
  // oxlint-disable-next-line require-yield
  function* () {
    throw error;
  };

/** Streams a text and then nothing, until it is aborted. */
export const hang = (text = ""): Step =>
  async function* ({ abortSignal }) {
    yield { type: "text-start", id: "t" };
    if (text !== "") yield { type: "text-delta", id: "t", delta: text };
    await new Promise((resolve) => abortSignal?.addEventListener("abort", resolve));
  };

/** Another step at each try: a retry of a request gets the next one. */
export function inTurn(...steps: Step[]): Step {
  let tries = 0;
  return (options) => steps[Math.min(tries++, steps.length - 1)]!(options);
}

/**
 * A model that answers from a script. The step depends only on the number of answers in the prompt, so another process that continues
 * a thread gets the next step.
 */
export function script(...steps: Step[]): ScriptedModel {
  return scriptedBy((options) => {
    const answers = options.prompt.filter((message) => message.role === "assistant").length;
    return steps[answers] ?? say("(the script has ended)");
  });
}

export function scriptedBy(choose: (options: LanguageModelV4CallOptions) => Step): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = [];
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "script",
    supportedUrls: {},
    requests,
    async doGenerate() {
      throw new Error("The scripted model only streams.");
    },
    async doStream(options) {
      const { prompt } = options;
      requests.push({ ...options, prompt: [...prompt] });
      const source = choose(options)(options);
      const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
      // A step that fails before its first part fails the request itself.
      const first = await iterator.next();
      let pending: IteratorResult<Part> | undefined = first;
      const stream = new ReadableStream<Part>({
        async pull(controller) {
          const { value, done } = pending ?? (await iterator.next());
          pending = undefined;
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      return { stream };
    },
  };
}
