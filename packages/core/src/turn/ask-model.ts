import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { streamAnswer, type Answer, type AnswerSink } from "../model/answer.ts";
import type { StreamModel } from "../model/compat.ts";
import type { ModelFailure } from "../model/failure.ts";
import { MessageUpdate, type NewLive } from "../events/live-events.ts";
import type { HarnessEvent } from "../events/event-map.ts";
import type { Message, Part, Usage } from "../events/message.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { CallSettings } from "../config/settings.ts";
import type { DraftPiece } from "../ports/store.ts";

const MAX_TRIES = 5;
const MAX_WAIT_MS = 60_000;
/** How often the draft of the streaming message is saved. */
const DRAFT_MS = 500;

type AskOutcome =
  | { kind: "answer"; messageId: string; answer: Answer }
  | { kind: "failed"; failure: ModelFailure; partial: Message | null }
  /** The limit `detail` was reached before the next retry. */
  | { kind: "exhausted"; detail: string; partial: Message | null }
  | { kind: "aborted"; partial: Message | null };

interface AskContext {
  threadId: string;
  turnId: string;
  model: StreamModel;
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  settings: CallSettings;
  signal: AbortSignal;
  clock: Clock;
  ids: Ids;
  live(event: NewLive): void;
  emit(event: HarnessEvent): void;
  saveDraft(pieces: DraftPiece[]): Promise<void>;
  /** Records the usage of an answer that is not kept. */
  recordUsage(usage: Usage): Promise<void>;
  /** Describes the limit that is reached. `null`: the model may be asked again. */
  exhausted(): Promise<string | null>;
}

/** Asks the model, with retries, until it answers, fails for good, reaches a limit, or is aborted. No other code retries. */
export async function ask(context: AskContext): Promise<AskOutcome> {
  const { signal, clock } = context;
  let emptyAnswers = 0;
  for (let attempt = 1; ; attempt++) {
    const messageId = context.ids("message");
    const outcome = await tryOnce(context, messageId);
    if (outcome.kind === "aborted") return { kind: "aborted", partial: partialOf(messageId, outcome.partial) };
    if (outcome.kind === "answer" && hasContent(outcome.answer))
      return { kind: "answer", messageId, answer: outcome.answer };
    const { failure, usage, partial } = failedTry(messageId, outcome);
    if (usage) await context.recordUsage(usage);
    const mayRetry = failure.code === "PROVIDER_EMPTY" ? ++emptyAnswers < 2 : failure.retryable;
    if (!mayRetry || attempt >= MAX_TRIES) return { kind: "failed", failure, partial };
    const detail = await context.exhausted();
    if (detail !== null) return { kind: "exhausted", detail, partial };
    context.live({ type: "message_discarded", messageId, role: "assistant", reason: failure.message });
    const delayMs = retryDelay(attempt, failure);
    context.live({ type: "retry_scheduled", attempt, delayMs, message: failure.message });
    await sleep(clock, delayMs, signal);
    if (signal.aborted) return { kind: "aborted", partial: null };
    const detailNow = await context.exhausted();
    if (detailNow !== null) return { kind: "exhausted", detail: detailNow, partial: null };
  }
}

function failedTry(messageId: string, outcome: Exclude<Awaited<ReturnType<typeof tryOnce>>, { kind: "aborted" }>) {
  if (outcome.kind === "answer")
    return { failure: emptyAnswer(outcome.answer), usage: outcome.answer.usage, partial: null };
  return { failure: outcome.failure, usage: outcome.usage, partial: partialOf(messageId, outcome.partial) };
}

async function tryOnce(context: AskContext, messageId: string) {
  const { model, prompt, tools, settings, signal, clock } = context;
  const draft = new Draft(context, messageId);
  context.live({ type: "message_start", messageId, role: "assistant" });
  const sink: AnswerSink = {
    text: (update) => {
      const { threadId, turnId } = context;
      context.emit(new MessageUpdate({ threadId, turnId, messageId, at: clock.now() }, update));
      draft.add(update);
    },
    toolInput: ({ phase, toolCallId, toolName, delta }) => {
      if (phase === "delta") context.live({ type: "tool_input_delta", toolCallId, toolName, argsTextDelta: delta });
      else context.live({ type: `tool_input_${phase}`, toolCallId, toolName });
    },
  };
  try {
    return await streamAnswer({ model, prompt, tools, settings, signal, clock, sink });
  } finally {
    await draft.stop();
  }
}

/** Collects the deltas since the last save, so that a save does not write the whole message again. */
class Draft {
  readonly #context: AskContext;
  readonly #messageId: string;
  #pieces: DraftPiece[] = [];
  #cancelTimer: (() => void) | undefined;
  #saving: Promise<void> | undefined;
  #isStopped = false;

  constructor(context: AskContext, messageId: string) {
    this.#context = context;
    this.#messageId = messageId;
  }

  add({ index, part, delta }: { index: number; part: "text" | "reasoning"; delta: string }): void {
    const last = this.#pieces.at(-1);
    if (last?.index === index) last.text += delta;
    else this.#pieces.push({ messageId: this.#messageId, index, part, text: delta });
    this.#cancelTimer ??= this.#context.clock.after(DRAFT_MS, () => {
      this.#saving = this.#save();
    });
  }

  async #save(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    // A draft may be lost: a full disk must not end the answer that is streaming.
    await this.#context.saveDraft(pieces).catch(() => undefined);
    this.#cancelTimer = undefined;
    const unsaved = this.#pieces[0];
    if (unsaved && !this.#isStopped) this.add({ ...unsaved, delta: "" });
  }

  /** After this no draft is saved: one that is saved after `message_end` would belong to no message. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#saving;
  }
}

const NOT_AN_ANSWER: readonly string[] = ["reasoning", "source", "custom"];
const hasContent = ({ content }: Answer): boolean => content.some((part) => !NOT_AN_ANSWER.includes(part.type));

function emptyAnswer({ finishReason }: Answer): ModelFailure {
  if (finishReason === "content-filter") {
    const message =
      "The provider refused to answer (content filter). Rephrase, or rewind to before the message that it refuses.";
    return { code: "PROVIDER_REFUSED", message, retryable: false };
  }
  const next = finishReason === "length" ? " Raise maxOutputTokens: it was used up before the first word." : "";
  return {
    code: "PROVIDER_EMPTY",
    message: `The model gave an empty answer (${finishReason}).${next}`,
    retryable: true,
  };
}

function partialOf(id: string, content: readonly Part[]): Message | null {
  const texts = content.filter((part) => (part.type === "text" || part.type === "reasoning") && part.text !== "");
  return texts.length > 0 ? { id, role: "assistant", content: texts } : null;
}

/** The delay that the provider asks for, up to a minute; otherwise exponential backoff from 1 s, with jitter. */
function retryDelay(attempt: number, { retryAfterMs }: ModelFailure): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_WAIT_MS);
  const base = 1_000 * 2 ** (attempt - 1);
  return Math.round(base / 2 + Math.random() * base * 0.5);
}
