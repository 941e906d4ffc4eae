import { newDisplayState, reduceDisplay, type EndReason, type HarnessEvent, type HarnessMessage } from "@cinch/core";
import type { Store, ThreadRecord, Usage } from "@cinch/core";
import { lift, type DurableEvent } from "@cinch/core/journal";

/** A whole thread, as it is written to a file: JSON values only. */
export interface ThreadExport {
  id: string;
  title: string;
  createdAt: number;
  updatedAt: number;
  status: "idle" | "running" | "waiting" | "parked";
  modelId: string | null;
  usage: Usage;
  /** In dollars. `null`: a price is unknown. */
  cost: number | null;
  messages: HarnessMessage[];
  /** How turns ended that were not complete. */
  ends: { seq: number; reason: EndReason; message: string | null }[];
}

const CHUNK = 500;

/** Reads a thread without opening it: an interrupted turn stays as it is. */
export async function readThread(store: Store, record: ThreadRecord): Promise<ThreadExport> {
  const fold = new ExportFold(record);
  for (let after = 0; ;) {
    const events = await store.read(record.id, { after, limit: CHUNK });
    for (const event of events) fold.add(lift(event));
    if (events.length < CHUNK) return fold.result();
    after = events.at(-1)!.seq;
  }
}

class ExportFold {
  readonly #record: ThreadRecord;
  readonly #messages: HarnessMessage[] = [];
  /** By call id, the message that called last. */
  readonly #callers = new Map<string, HarnessMessage>();
  readonly #ends: ThreadExport["ends"] = [];
  #display;
  #error: string | null = null;

  constructor(record: ThreadRecord) {
    this.#record = record;
    this.#display = newDisplayState(record.id);
  }

  add(event: DurableEvent): void {
    this.#display = reduceDisplay(this.#display, event as HarnessEvent);
    if (event.type === "message_end") this.#said(event);
    if (event.type === "tool_end") this.#called(event);
    if (event.type === "agent_start") this.#error = null;
    if (event.type === "error") this.#error = event.message;
    if (event.type === "agent_end" && event.reason !== "complete") {
      const message = event.reason === "error" ? this.#error : (event.detail ?? null);
      this.#ends.push({ seq: event.seq, reason: event.reason, message });
    }
  }

  #said({ message, at, seq, by, interrupted = false }: DurableEvent<"message_end">): void {
    const shown: HarnessMessage = { ...message, at, seq, interrupted, by: by ?? null, outcomes: {} };
    this.#messages.push(shown);
    if (interrupted) return;
    for (const part of message.content) if (part.type === "tool-call") this.#callers.set(part.toolCallId, shown);
  }

  #called({ toolCallId, result, isError, unknown = false, durationMs, args }: DurableEvent<"tool_end">): void {
    const caller = this.#callers.get(toolCallId);
    const edited = args === undefined ? {} : { args };
    if (caller) caller.outcomes[toolCallId] = { result, isError, unknown, durationMs, ...edited };
  }

  result(): ThreadExport {
    const { id, title, createdAt, updatedAt } = this.#record;
    const { status, modelId, tokenUsage: usage, cost } = this.#display;
    return {
      id,
      title,
      createdAt,
      updatedAt,
      status,
      modelId,
      usage,
      cost,
      messages: this.#messages,
      ends: this.#ends,
    };
  }
}
