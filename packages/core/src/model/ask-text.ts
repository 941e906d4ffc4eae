import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { CinchError } from "../errors.ts";
import { textOf, type Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import { streamAnswer, type Answer, type AnswerSink } from "./answer.ts";
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
      usage = addUsage(usage, outcome.answer.usage);
      const { text, failure } = usableText(outcome.answer);
      return { text, usage, failure: failure && asError(failure) };
    }
    if (outcome.usage) usage = addUsage(usage, outcome.usage);
    const { failure } = outcome;
    if (!failure.retryable || attempt >= MAX_TRIES) return { text: "", usage, failure: asError(failure) };
    await sleep(call.clock, failure.retryAfterMs ?? RETRY_MS * attempt, call.signal);
  }
}

/** The text stands for a part of the conversation: half a sentence would be all that is left of it. */
function usableText({ content, finishReason }: Answer): { text: string; failure: ModelFailure | null } {
  const text = textOf(content).trim();
  if (finishReason === "content-filter") return { text: "", failure: refused };
  // Of lines that were cut off by their number, those before the last are whole.
  const whole = finishReason === "length" ? text.slice(0, Math.max(0, text.lastIndexOf("\n"))).trimEnd() : text;
  if (whole === "") return { text: "", failure: text === "" ? empty : cut };
  return { text: whole === text ? text : `${whole}\n${CUT_MARK}`, failure: null };
}

const CUT_MARK = "[The rest was cut off by the length limit.]";

const cut: ModelFailure = {
  code: "PROVIDER_STREAM_CUT",
  message: "The model's text was cut off by its length limit. Use a model that may answer at greater length.",
  retryable: false,
};
const refused: ModelFailure = { code: "PROVIDER_REFUSED", message: "The model refused to answer.", retryable: false };
const stopped: ModelFailure = {
  code: "PROVIDER_SILENT",
  message: "The model did not answer in time.",
  retryable: true,
};
const empty: ModelFailure = { code: "PROVIDER_EMPTY", message: "The model answered without text.", retryable: true };

const asError = ({ code, message, cause }: ModelFailure): CinchError => new CinchError(code, message, cause);
