import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Part, Usage } from "../events/message.ts";
import type { Clock } from "../ports/clock.ts";
import type { CallSettings } from "../config/settings.ts";
import { AnswerBuilder } from "./answer-builder.ts";
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
  /** Why none of its calls is run, for the model: it was larger than an answer may be. */
  problem?: string | undefined;
}

export type Outcome =
  | { kind: "answer"; answer: Answer }
  /** `usage`: what it took all the same, if the provider said so. */
  | { kind: "failed"; failure: Failure; partial: Part[]; usage?: Usage }
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
  settings?: CallSettings;
  signal: AbortSignal;
  clock: Clock;
  sink: AnswerSink;
}

/** One call of the model, to its end. Never rejects: a failure is a value. */
export async function streamAnswer(asked: AnswerRequest): Promise<Outcome> {
  const { model, prompt, tools, settings, signal, clock, sink } = asked;
  const builder = new AnswerBuilder(sink);
  const call = new AbortController();
  const watch = watchdog(clock, () => call.abort());
  const stop = () => call.abort();
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) return { kind: "aborted", partial: [] };
    const request = model.doStream({
      ...settings,
      prompt,
      ...(tools.length > 0 ? { tools } : {}),
      abortSignal: call.signal,
    });
    const opened = await Promise.race([request, aborted(call.signal)]);
    if (opened)
      await consume(opened.stream.getReader(), call.signal, (part) => {
        watch.alive();
        builder.add(part);
        // Nothing comes after it, and a connection that stays open must not turn an answer into a silence.
        return part?.type === "finish" || builder.size.isTooLarge;
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
  isEnough: (part: LanguageModelV4StreamPart) => boolean,
): Promise<void> {
  // A provider may ignore the signal: cancelling the reader ends a read that would hang.
  const cancel = () => {
    reader.cancel().catch(() => undefined);
  };
  signal.addEventListener("abort", cancel);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (signal.aborted) return;
      if (isEnough(next.value)) return cancel();
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
