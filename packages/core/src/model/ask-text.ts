import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { CinchError } from "../errors.ts";
import { textOf, type Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import { streamAnswer, type AnswerSink } from "./answer.ts";
import type { StreamModel } from "./compat.ts";
import type { ModelFailure } from "./failure.ts";

const MAX_TRIES = 3;
const RETRY_MS = 2_000;

const ignore: AnswerSink = { text: () => undefined, toolInput: () => undefined };

interface TextCall {
  model: StreamModel;
  system: string;
  prompt: string;
  maxOutputTokens?: number | undefined;
  signal: AbortSignal;
  clock: Clock;
}

/** Asks a model that has no tools for a text. Never rejects. */
export async function askText(call: TextCall): Promise<{ text: string; usage: Usage; failure: CinchError | null }> {
  const { system, prompt, maxOutputTokens, ...rest } = call;
  const messages: LanguageModelV4Prompt = [
    { role: "system", content: system },
    { role: "user", content: [{ type: "text", text: prompt }] },
  ];
  const settings = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  let usage = noUsage;
  for (let attempt = 1; ; attempt++) {
    const outcome = await streamAnswer({ ...rest, prompt: messages, tools: [], settings, sink: ignore });
    if (outcome.kind === "aborted") return { text: "", usage, failure: asError(stopped) };
    if (outcome.kind === "answer") {
      const text = textOf(outcome.answer.content).trim();
      usage = addUsage(usage, outcome.answer.usage);
      return { text, usage, failure: text === "" ? asError(empty) : null };
    }
    if (outcome.usage) usage = addUsage(usage, outcome.usage);
    const { failure } = outcome;
    if (!failure.retryable || attempt >= MAX_TRIES) return { text: "", usage, failure: asError(failure) };
    await sleep(call.clock, failure.retryAfterMs ?? RETRY_MS * attempt, call.signal);
  }
}

const stopped: ModelFailure = {
  code: "PROVIDER_SILENT",
  message: "The model did not answer in time.",
  retryable: true,
};
const empty: ModelFailure = { code: "PROVIDER_EMPTY", message: "The model answered without text.", retryable: true };

const asError = ({ code, message, cause }: ModelFailure): CinchError => new CinchError(code, message, cause);
