import { newThreadState, noUsage, reduceThread, stamp, type NewEvent } from "@cinch/core/journal";
import type { Decision, DurableEvent, Json, Message, Part, ToolResult } from "@cinch/core";
import { memoryEvent } from "./journal-memory.ts";
import type { Act, OutcomePlan, PartPlan, ProviderName, StepPlan, UserPlan } from "./journal.ts";

type Call = Extract<Part, { type: "tool-call" }>;

/** The outcomes of a call that needs an approval. */
export const ASKING = ["asks", "approved", "edited", "granted", "declined", "declined silently"] as const;
type Asking = (typeof ASKING)[number];
const asks = (kind: OutcomePlan["kind"]): kind is Asking => (ASKING as readonly string[]).includes(kind);

/** Writes the events of a plan as a driver would, or as a driver that crashed did. */
export class JournalWriter {
  events: DurableEvent[] = [];
  #threadId: string;
  #seq = 0;
  #serial = 0;
  #turnId = "";
  #runId = "";
  /** Results that arrive only in a later step. */
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
      case "memory":
        return this.#add(memoryEvent(this.events, act));
      case "rewind": {
        const carried = this.#carried();
        const toSeq = this.#truncate(act.at);
        return this.#add({ type: "thread_rewound", toSeq, files: false, ...carried });
      }
      case "clone": {
        const { rules, state } = this.#carried();
        const seq = this.#truncate(act.at);
        const parent = { threadId: this.#threadId, seq };
        this.#threadId = this.#id("thread");
        this.#seq = seq;
        this.events = this.events.map((event) => ({ ...event, threadId: this.#threadId }));
        return this.#add({ type: "thread_cloned", title: "A clone", parent, rules, state });
      }
    }
  }

  /** What a rewind or a clone carries over. */
  #carried() {
    const { control, usage, spent } = this.events.reduce(reduceThread, newThreadState);
    const { rules, grants, yolo } = control.policies;
    const state: Record<string, Json> = yolo === null ? {} : { yolo };
    return { rules: [...rules], grants: [...grants], state, usage, spent };
  }

  /** Removes the events after this share of the journal. Returns the last `seq` that is kept. */
  #truncate(share: number): number {
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

  #message(message: Message, more: Omit<NewEvent<"message_end">, "type" | "message"> = {}): void {
    this.#inTurn({ type: "message_end", message, ...more });
  }

  #turn({ provider, input, steps, end }: Extract<Act, { kind: "turn" }>): void {
    this.#turnId = this.#id("turn");
    this.#accept(input, "send");
    this.#start(provider, { resumed: false });
    this.#inTurn({ type: "prompt_head", blob: "blob-head", key: provider, reason: "first use" });
    this.#taken(input);
    let current = provider;
    for (const step of steps) {
      if (step.switched) this.#start((current = step.switched), { resumed: true });
      this.#step(step, current);
      if (step.takeover) this.#start(current, { resumed: true, takeover: true });
    }
    if (end === "cut") return;
    if (end === "error") this.#inTurn({ type: "error", code: "PROVIDER_ERROR", message: "Broken.", retryable: false });
    if (end === "aborted") this.#inTurn({ type: "abort_requested" });
    this.#inTurn({ type: "agent_end", reason: end });
  }

  #start(provider: ProviderName, how: { resumed: boolean; takeover?: boolean }): void {
    this.#inTurn({ type: "agent_start", modeId: "default", modelId: `${provider}/some-model`, ...how });
  }

  #accept({ text, files }: UserPlan, delivery: "send" | "steer"): void {
    this.#add({ type: "input_accepted", inputId: this.#id("input"), delivery, content: text, files });
  }

  #taken({ text, files }: UserPlan): void {
    this.#inTurn({ type: "input_taken", inputId: `input_${this.#serial}` });
    const said: Part[] = text === "" ? [] : [{ type: "text", text }];
    this.#message({ id: this.#id("message"), role: "user", content: [...said, ...files] });
  }

  #step({ draft, parts, outcomes, steers, notes, command }: StepPlan, provider: ProviderName): void {
    for (const { about, text } of notes) {
      const content: Part[] = [{ type: "text", text }];
      this.#message({ id: this.#id("note"), role: "note", content }, { about });
    }
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
    const planned = calls.map((call, at) => ({ call, plan: outcomes[at]! }));
    for (const { call, plan } of planned) this.#begin(call, plan);
    if (command) this.#add(command);
    for (const { call, plan } of planned.toSorted((a, b) => a.plan.rank - b.plan.rank)) this.#outcome(call, plan);
    this.#inTurn({ type: "step_end", finishReason: "stop", usage: noUsage });
    for (const steer of steers) {
      this.#accept(steer, "steer");
      this.#taken(steer);
    }
  }

  #begin(call: Call, { kind }: OutcomePlan): void {
    const { toolCallId, toolName, input: args } = call;
    if (kind === "refused") return this.#inTurn(ended(call, { content: "Not run." }, { isError: true }));
    if (!asks(kind)) return this.#startCall(call, args);
    const decisions: Decision[] = ["approve", "decline", "edit", "always_allow_tool"];
    const question = {
      args,
      category: "execute" as const,
      digest: "digest",
      preview: { diff: "+" },
      decisions,
      path: [],
    };
    this.#inTurn({ type: "tool_approval_required", toolCallId, toolName, ...question });
  }

  #run(
    { toolCallId, toolName }: Call,
    background?: NewEvent<"subagent_start">["background"],
  ): NewEvent<"subagent_start"> {
    this.#runId = `${this.#threadId}:${this.#seq}`;
    return {
      type: "subagent_start",
      ...this.#ofRun(toolCallId, toolName),
      task: "Look",
      forked: false,
      session: "new",
      modeId: "default",
      depth: 0,
      ...(background ? { background } : {}),
    };
  }

  #runEnd({ toolCallId, toolName }: Call, result: ToolResult): NewEvent<"subagent_end"> {
    const used = { durationMs: 1, usage: noUsage, cost: null };
    const run = this.#ofRun(toolCallId, toolName);
    return { type: "subagent_end", ...run, result, isError: false, status: "complete", ...used };
  }

  #ofRun(toolCallId: string, toolName: string) {
    const childThreadId = `sub_${toolCallId}`;
    return { toolCallId, toolName, runId: this.#runId, agentName: "explore", childThreadId, path: ["explore"] };
  }

  #startCall({ toolCallId, toolName }: Call, args: Json): void {
    this.#inTurn({
      type: "tool_start",
      toolCallId,
      toolName,
      args,
      key: `${this.#threadId}:${this.#seq}`,
      effect: "once",
    });
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
      case "offloads": {
        const path = `/.cinch/context/result-${this.#seq}.txt`;
        const of = { toolCallId, toolName, path, blob: `blob-${this.#seq}`, chars: 90_000, bytes: 90_000 };
        this.#inTurn({ type: "context_offloaded", ...of });
        return this.#inTurn(ended(call, { content: `The rest is in ${path}.` }));
      }
      case "late":
        this.#late.push(ended(call, result));
        return;
      case "plans": {
        this.#inTurn(suspended);
        this.#inTurn({ type: "tool_resumed", toolCallId, toolName, resumeData: { action: "approved" } });
        this.#inTurn({ type: "mode_changed", modeId: "build", previousModeId: "plan" });
        return this.#inTurn(ended(call, result));
      }
      case "delegates":
        this.#inTurn(this.#run(call));
        this.#inTurn(this.#runEnd(call, result));
        return this.#inTurn(ended(call, result));
      case "waits for a child":
        return this.#inTurn(this.#run(call));
      case "delegates in the background":
      case "leaves a child": {
        const agentId = `bg-${this.#seq}`;
        const childThreadId = `sub_${toolCallId}`;
        const start = this.#run(call, { agentId, wake: true });
        this.#inTurn(start);
        const of = { agentId, runId: start.runId, childThreadId };
        this.#inTurn({ type: "background_started", ...of, status: "running" });
        this.#inTurn(ended(call, result));
        if (kind === "leaves a child") return;
        this.#add({ ...this.#runEnd(call, result), background: true });
        return this.#add({ type: "background_settled", ...of, status: "complete" });
      }
      case "lists tasks": {
        const task = { content: "Do it", activeForm: "Doing it" };
        const tasks = [
          { id: "1", ...task, status: "in_progress" as const },
          { id: "2", ...task, status: "pending" as const },
        ];
        this.#inTurn({ type: "task_updated", tasks });
        return this.#inTurn(ended(call, result));
      }
      case "missing":
      case "refused":
        return;
      default:
        return this.#answer(call, kind, result);
    }
  }

  #answer(call: Call, kind: Asking, result: ToolResult): void {
    const { toolCallId, toolName, input } = call;
    const resolved = { type: "tool_approval_resolved" as const, toolCallId, toolName, digest: "digest" };
    switch (kind) {
      case "asks":
        return;
      case "declined":
        this.#inTurn({ ...resolved, decision: "decline", message: "Rather not." });
        return this.#inTurn(ended(call, { content: "Rather not." }, { isError: true }));
      case "declined silently":
        this.#inTurn({ ...resolved, decision: "decline" });
        return this.#inTurn(ended(call, { content: "Declined by the user." }, { isError: true }));
      case "edited": {
        const args = { path: "elsewhere" };
        this.#inTurn({ ...resolved, decision: "edit", args, digest: "another" });
        this.#startCall(call, args);
        return this.#inTurn(ended(call, result));
      }
      case "granted":
        this.#inTurn({ ...resolved, decision: "always_allow_tool" });
        this.#inTurn({ type: "grant_added", rule: { toolName, policy: "allow" }, from: toolCallId });
        break;
      case "approved":
        this.#inTurn({ ...resolved, decision: "approve", message: "Go on.", by: "Ada" });
    }
    this.#startCall(call, input);
    this.#inTurn(ended(call, result));
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

  /** A call that the provider ran itself, as its SDK reports it. */
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
