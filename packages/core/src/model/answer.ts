import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Part, Usage } from "../events/message.ts";
import type { Clock } from "../ports/clock.ts";
import type { CallSettings } from "../config/settings.ts";
import { AnswerBuilder } from "./answer-builder.ts";
import type { StreamModel } from "./compat.ts";
import { modelFailure, type ModelFailure } from "./failure.ts";

/** The timeout between two parts of a stream. A model that thinks may send none for minutes: an SDK does not pass on what keeps the line alive. */
const SILENCE_MS = 300_000;

export interface Answer {
  content: Part[];
  /** The bytes of files that the model generated, by the index of their part. */
  files: Map<number, Uint8Array>;
  /** By call id, why a call can't be run, for the model. */
  refused: Map<string, string>;
  finishReason: string;
  usage: Usage;
  /** Why no call of this answer is run, for the model: it exceeds a limit. */
  problem?: string | undefined;
}

export type AnswerOutcome =
  | { kind: "answer"; answer: Answer }
  /** `usage`: what the failed call used, if the provider reported it. */
  | { kind: "failed"; failure: ModelFailure; partial: Part[]; usage?: Usage }
  | { kind: "aborted"; partial: Part[] };

/** Receives an answer while it streams. */
export interface AnswerSink {
  text(update: { index: number; part: "text" | "reasoning"; delta: string; content: readonly Part[] }): void;
  toolInput(update: { phase: "start" | "delta" | "end"; toolCallId: string; toolName: string; delta: string }): void;
}

interface AnswerRequest {
  model: StreamModel;
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  settings?: CallSettings;
  signal: AbortSignal;
  clock: Clock;
  sink: AnswerSink;
}

/** Calls the model once. Never rejects: a failure is a value. */
export async function streamAnswer(answerRequest: AnswerRequest): Promise<AnswerOutcome> {
  const { model, prompt, tools, settings, signal, clock, sink } = answerRequest;
  const builder = new AnswerBuilder(sink);
  const call = new AbortController();
  const abortCall = () => call.abort();
  const watchdog = startWatchdog(clock, abortCall);
  signal.addEventListener("abort", abortCall);
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
        watchdog.reset();
        builder.add(part);
        // `finish` is the last part. If the connection stays open after it, waiting for the end would run into the timeout.
        return part?.type === "finish" || builder.size.isTooLarge;
      });
  } catch (error) {
    if (!call.signal.aborted) builder.failure ??= modelFailure(error, builder.hasStarted ? "stream" : "request");
  } finally {
    signal.removeEventListener("abort", abortCall);
    watchdog.stop();
  }
  if (signal.aborted) return { kind: "aborted", partial: builder.content };
  if (watchdog.hasFired) return { kind: "failed", failure: silent, partial: builder.content };
  return builder.outcome();
}

const silent: ModelFailure = {
  code: "PROVIDER_SILENT",
  message: `The model sent nothing for ${SILENCE_MS / 1000} s.`,
  retryable: true,
};

async function consume(
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  isLast: (part: LanguageModelV4StreamPart) => boolean,
): Promise<void> {
  // A provider may ignore the signal: cancelling the reader ends a read that would hang.
  const cancel = () => {
    reader.cancel().catch(() => undefined);
  };
  signal.addEventListener("abort", cancel);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (signal.aborted) return;
      if (isLast(next.value)) return cancel();
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));

/** Uses one timer for a whole stream: `reset` only notes the time, since it is called for every delta. */
function startWatchdog(clock: Clock, onTimeout: () => void) {
  let last = clock.now();
  let cancel = clock.after(SILENCE_MS, check);
  const watchdog = { hasFired: false, reset: () => void (last = clock.now()), stop: () => cancel() };
  function check() {
    const remainingMs = last + SILENCE_MS - clock.now();
    if (remainingMs > 0) cancel = clock.after(remainingMs, check);
    else {
      watchdog.hasFired = true;
      onTimeout();
    }
  }
  return watchdog;
}
