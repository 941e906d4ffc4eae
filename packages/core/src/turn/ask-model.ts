import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { streamAnswer, type Answer, type AnswerSink } from "../model/answer.ts";
import type { StreamModel } from "../model/compat.ts";
import type { Failure } from "../model/failure.ts";
import type { Head } from "../model/prompt.ts";
import { MessageUpdate, type NewLive } from "../events/live-events.ts";
import type { HarnessEvent } from "../events/event-map.ts";
import type { Message, Part, Usage } from "../events/message.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { CallSettings } from "../config/settings.ts";
import type { DraftPiece } from "../ports/store.ts";

export const MAX_TRIES = 5;
const MAX_WAIT_MS = 60_000;
/** How often the draft of what is streaming is saved. */
export const DRAFT_MS = 500;

export type AskOutcome =
  | { kind: "answer"; messageId: string; answer: Answer }
  | { kind: "failed"; failure: Failure; partial: Message | null }
  /** A limit was reached, `detail`, before the model could be asked again. */
  | { kind: "exhausted"; detail: string; partial: Message | null }
  | { kind: "aborted"; partial: Message | null };

export interface AskContext {
  threadId: string;
  turnId: string;
  model: StreamModel;
  prompt: LanguageModelV4Prompt;
  head: Head;
  settings: CallSettings;
  signal: AbortSignal;
  clock: Clock;
  ids: Ids;
  live(event: NewLive): void;
  emit(event: HarnessEvent): void;
  saveDraft(pieces: DraftPiece[]): Promise<void>;
  /** Records what an answer took that is not kept. */
  spend(usage: Usage): Promise<void>;
  /** Which limit is reached, in words. `null`: the model may be asked again. */
  exhausted(): string | null;
}

/** Asks the model until it answers, fails for good, uses up what it may, or is told to stop. The one place that retries. */
export async function ask(context: AskContext): Promise<AskOutcome> {
  const { signal, clock } = context;
  let empty = 0;
  for (let attempt = 1; ; attempt++) {
    const messageId = context.ids("message");
    const outcome = await tryOnce(context, messageId);
    if (outcome.kind === "aborted") return { kind: "aborted", partial: partialOf(messageId, outcome.partial) };
    if (outcome.kind === "answer" && hasSubstance(outcome.answer))
      return { kind: "answer", messageId, answer: outcome.answer };
    const { failure, usage, partial } = failedTry(messageId, outcome);
    if (usage) await context.spend(usage);
    const again = failure.code === "PROVIDER_EMPTY" ? ++empty < 2 : failure.retryable;
    if (!again || attempt >= MAX_TRIES) return { kind: "failed", failure, partial };
    const detail = context.exhausted();
    if (detail !== null) return { kind: "exhausted", detail, partial };
    context.live({ type: "message_discarded", messageId, role: "assistant", reason: failure.message });
    const delayMs = waitFor(attempt, failure);
    context.live({ type: "retry_scheduled", attempt, delayMs, message: failure.message });
    await sleep(clock, delayMs, signal);
    if (signal.aborted) return { kind: "aborted", partial: null };
    const late = context.exhausted();
    if (late !== null) return { kind: "exhausted", detail: late, partial: null };
  }
}

/** What is left of a try that gave no answer. */
function failedTry(messageId: string, outcome: Exclude<Awaited<ReturnType<typeof tryOnce>>, { kind: "aborted" }>) {
  if (outcome.kind === "answer")
    return { failure: emptyAnswer(outcome.answer), usage: outcome.answer.usage, partial: null };
  return { failure: outcome.failure, usage: outcome.usage, partial: partialOf(messageId, outcome.partial) };
}

async function tryOnce(context: AskContext, messageId: string) {
  const { model, prompt, head, settings, signal, clock } = context;
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
    return await streamAnswer({ model, prompt, tools: head.tools, settings, signal, clock, sink });
  } finally {
    await draft.stop();
  }
}

/** Collects what was said since the last save, so that saving costs what is new and not what is there. */
class Draft {
  readonly #context: AskContext;
  readonly #messageId: string;
  #pieces: DraftPiece[] = [];
  #cancel: (() => void) | undefined;
  #saving: Promise<void> | undefined;
  #stopped = false;

  constructor(context: AskContext, messageId: string) {
    this.#context = context;
    this.#messageId = messageId;
  }

  add({ index, part, delta }: { index: number; part: "text" | "reasoning"; delta: string }): void {
    const last = this.#pieces.at(-1);
    if (last?.index === index) last.text += delta;
    else this.#pieces.push({ messageId: this.#messageId, index, part, text: delta });
    this.#cancel ??= this.#context.clock.after(DRAFT_MS, () => {
      this.#saving = this.#save();
    });
  }

  async #save(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    // A draft is a courtesy: a full disk must not end the answer that is coming in.
    await this.#context.saveDraft(pieces).catch(() => undefined);
    this.#cancel = undefined;
    const more = this.#pieces[0];
    if (more && !this.#stopped) this.add({ ...more, delta: "" });
  }

  /** No save may come after the message itself: it would be the draft of something that is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#saving;
  }
}

const WORDLESS: readonly string[] = ["reasoning", "source", "custom"];
const hasSubstance = ({ content }: Answer): boolean => content.some((part) => !WORDLESS.includes(part.type));

function emptyAnswer({ finishReason }: Answer): Failure {
  if (finishReason === "content-filter") {
    const message =
      "The provider refused to answer (content filter). Rephrase, or rewind to before the message it refuses.";
    return { code: "PROVIDER_REFUSED", message, retryable: false };
  }
  return { code: "PROVIDER_EMPTY", message: `The model gave an empty answer (${finishReason}).`, retryable: true };
}

function partialOf(id: string, content: readonly Part[]): Message | null {
  const said = content.filter((part) => (part.type === "text" || part.type === "reasoning") && part.text !== "");
  return said.length > 0 ? { id, role: "assistant", content: said } : null;
}

/** What the provider asks for, up to a minute; otherwise 1, 2, 4, 8 s, spread so that many do not come back at once. */
function waitFor(attempt: number, { retryAfterMs }: Failure): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_WAIT_MS);
  const base = 1_000 * 2 ** (attempt - 1);
  return Math.round(base / 2 + Math.random() * base * 0.5);
}
