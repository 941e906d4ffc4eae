import {
  noUsage,
  stamp,
  type DurableEvent,
  type Message,
  type NewEvent,
  type Part,
  type ToolResult,
} from "@cinch/core";
import type { Act, OutcomePlan, PartPlan, ProviderName, StepPlan, UserPlan } from "./journal.ts";

type Call = Extract<Part, { type: "tool-call" }>;

/** Writes the events of a plan as a driver would, or as one that was cut off did. */
export class JournalWriter {
  events: DurableEvent[] = [];
  #threadId: string;
  #seq = 0;
  #serial = 0;
  #turnId = "";
  /** Results that come when the conversation has moved on. */
  #late: NewEvent[] = [];

  constructor(threadId: string) {
    this.#threadId = threadId;
    this.#add({ type: "thread_created", title: "A thread", resourceId: "default" });
  }

  act(act: Act): void {
    switch (act.kind) {
      case "turn":
        return this.#turn(act);
      case "note":
        return this.#message({ id: this.#id("note"), role: "note", content: [{ type: "text", text: act.text }] });
      case "command":
        return this.#add(act.event);
      case "rewind": {
        const toSeq = this.#keep(act.at);
        return this.#add({ type: "thread_rewound", toSeq, files: false, rules: [], grants: [], usage: noUsage });
      }
      case "clone": {
        const seq = this.#keep(act.at);
        const parent = { threadId: this.#threadId, seq };
        this.#threadId = this.#id("thread");
        this.#seq = seq;
        this.events = this.events.map((event) => ({ ...event, threadId: this.#threadId }));
        return this.#add({ type: "thread_cloned", title: "A clone", parent, rules: [], state: {} });
      }
    }
  }

  /** Takes back what stands after a place in the journal, and says which `seq` is the last to stay. */
  #keep(share: number): number {
    const last = this.events[Math.floor(share * (this.events.length - 1))]!.seq;
    this.events = this.events.filter(({ seq }) => seq <= last);
    this.#late = [];
    return last;
  }

  #add(event: NewEvent): void {
    const stamped = stamp(event, 1_700_000_000_000 + this.#seq);
    this.events.push({ ...stamped, seq: ++this.#seq, threadId: this.#threadId } as DurableEvent);
  }

  #inTurn(event: NewEvent): void {
    this.#add({ ...event, turnId: this.#turnId });
  }

  #id(kind: string): string {
    return `${kind}_${++this.#serial}`;
  }

  #message(message: Message, more: { interrupted?: boolean; finishReason?: string } = {}): void {
    this.#inTurn({ type: "message_end", message, ...more });
  }

  #turn({ provider, input, steps, end }: Extract<Act, { kind: "turn" }>): void {
    this.#turnId = this.#id("turn");
    const start = { type: "agent_start" as const, modeId: "default", modelId: `${provider}/some-model` };
    this.#accept(input, "send");
    this.#inTurn({ ...start, resumed: false });
    this.#inTurn({ type: "prompt_head", blob: "blob-head", key: provider, reason: "first use" });
    this.#taken(input);
    for (const step of steps) {
      this.#step(step, provider);
      if (step.takeover) this.#inTurn({ ...start, resumed: true, takeover: true });
    }
    if (end === "cut") return;
    if (end === "error") this.#inTurn({ type: "error", code: "PROVIDER_ERROR", message: "Broken.", retryable: false });
    if (end === "aborted") this.#inTurn({ type: "abort_requested" });
    this.#inTurn({ type: "agent_end", reason: end });
  }

  #accept({ text, files }: UserPlan, delivery: "send" | "steer"): void {
    this.#add({ type: "input_accepted", inputId: this.#id("input"), delivery, content: text, files });
  }

  #taken({ text, files }: UserPlan): void {
    this.#inTurn({ type: "input_taken", inputId: `input_${this.#serial}` });
    const said: Part[] = text === "" ? [] : [{ type: "text", text }];
    this.#message({ id: this.#id("message"), role: "user", content: [...said, ...files] });
  }

  #step({ draft, parts, outcomes, steers }: StepPlan, provider: ProviderName): void {
    const id = this.#id("message");
    if (draft !== null)
      this.#message(
        { id: `${id}_draft`, role: "assistant", content: [{ type: "text", text: draft }] },
        { interrupted: true },
      );
    const content: Part[] = [];
    for (const part of parts) content.push(...this.#parts(part, provider, content));
    this.#message({ id, role: "assistant", content }, { finishReason: "stop" });
    this.#inTurn({ type: "usage_update", usage: noUsage, cost: null, cachedShare: 0 });
    const calls = content.filter((part): part is Call => part.type === "tool-call" && !part.providerExecuted);
    for (const event of this.#late.splice(0)) this.#inTurn(event);
    this.#run(calls, outcomes);
    this.#inTurn({ type: "step_end", finishReason: "stop", usage: noUsage });
    for (const steer of steers) {
      this.#accept(steer, "steer");
      this.#taken(steer);
    }
  }

  #run(calls: readonly Call[], outcomes: readonly OutcomePlan[]): void {
    const planned = calls.map((call, at) => ({ call, plan: outcomes[at]! }));
    for (const { call, plan } of planned) {
      const { toolCallId, toolName, input: args } = call;
      if (plan.kind === "refused") this.#inTurn(ended(call, { content: "Not run." }, { isError: true }));
      else this.#inTurn({ type: "tool_start", toolCallId, toolName, args, key: `k:${this.#seq}`, effect: "once" });
    }
    for (const { call, plan } of planned.toSorted((a, b) => a.plan.rank - b.plan.rank)) this.#outcome(call, plan);
  }

  #outcome(call: Call, { kind, result }: OutcomePlan): void {
    const { toolCallId, toolName, input: args } = call;
    const suspended = { type: "tool_suspended" as const, toolCallId, toolName, args, suspendPayload: "Which?" };
    switch (kind) {
      case "ends":
        return this.#inTurn(ended(call, result));
      case "fails":
        return this.#inTurn(ended(call, { content: "It broke." }, { isError: true }));
      case "unknown":
        return this.#inTurn(ended(call, { content: "Who knows." }, { isError: true, unknown: true }));
      case "suspends":
        return this.#inTurn(suspended);
      case "resumes":
        this.#inTurn(suspended);
        this.#inTurn({ type: "tool_resumed", toolCallId, toolName, resumeData: "This one." });
        return this.#inTurn(ended(call, result));
      case "twice":
        this.#inTurn(ended(call, result));
        return this.#inTurn(ended(call, { content: "The same again, and different." }));
      case "late":
        this.#late.push(ended(call, result));
        return;
      case "missing":
      case "refused":
        return;
    }
  }

  #parts(plan: PartPlan, provider: ProviderName, before: readonly Part[]): Part[] {
    switch (plan.kind) {
      case "text":
      case "reasoning": {
        const meta = plan.signed ? this.#signature(plan.kind, provider) : undefined;
        return [{ type: plan.kind, text: plan.text, ...(meta ? { providerMetadata: meta } : {}) }];
      }
      case "call": {
        const taken = before.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
        let toolCallId = plan.id;
        for (let n = 2; taken.includes(toolCallId); n++) toolCallId = `${plan.id}_${n}`;
        return [{ type: "tool-call", toolCallId, toolName: plan.name, input: plan.input }];
      }
      case "hosted":
        return this.#hosted(plan, provider);
      case "source":
        return [{ type: "source", id: this.#id("source"), source: { url: "https://example.com" } }];
      case "custom":
        return [{ type: "custom", kind: `${provider}.thing` }];
      case "file":
      case "reasoning-file": {
        if (provider !== "google.generative-ai") return [];
        const reasoning = plan.kind === "file" ? {} : { reasoning: true };
        return [{ type: "file", mediaType: "image/png", blob: "blob-a", ...reasoning }];
      }
    }
  }

  #signature(kind: "text" | "reasoning", provider: ProviderName): Call["providerMetadata"] {
    switch (provider) {
      case "anthropic.messages":
        return kind === "reasoning" ? { anthropic: { signature: this.#id("sig") } } : undefined;
      case "openai.responses":
        return { openai: { itemId: this.#id(kind === "reasoning" ? "rs" : "msg") } };
      case "google.generative-ai":
        return { google: { thoughtSignature: this.#id("sig") } };
      case "openai.chat":
        return undefined;
    }
  }

  /** A call that the provider ran itself, in the shape in which that provider's SDK reports it. */
  #hosted({ answered, failed }: Extract<PartPlan, { kind: "hosted" }>, provider: ProviderName): Part[] {
    const hosted = HOSTED[provider];
    if (!hosted) return [];
    const { toolName, input, result } = hosted;
    const toolCallId = this.#id(hosted.prefix);
    const isError = failed ? { isError: true } : {};
    const call: Part = { type: "tool-call", toolCallId, toolName, input, providerExecuted: true };
    return answered ? [call, { type: "tool-result", toolCallId, toolName, result, ...isError }] : [call];
  }
}

const HOSTED = {
  "anthropic.messages": {
    prefix: "srvtoolu",
    toolName: "web_search",
    input: { query: "cats" },
    result: [
      { type: "web_search_result", url: "https://example.com", title: "Cats", pageAge: null, encryptedContent: "e" },
    ],
  },
  "openai.responses": {
    prefix: "ws",
    toolName: "web_search",
    input: {},
    result: { action: { type: "search", query: "cats" } },
  },
  "google.generative-ai": {
    prefix: "code",
    toolName: "code_execution",
    input: { language: "PYTHON", code: "1 + 1" },
    result: { outcome: "OUTCOME_OK", output: "2" },
  },
  "openai.chat": undefined,
};

function ended(
  { toolCallId, toolName }: Call,
  result: ToolResult,
  { isError = false, unknown = false } = {},
): NewEvent {
  return { type: "tool_end", toolCallId, toolName, result, isError, durationMs: 1, ...(unknown ? { unknown } : {}) };
}
