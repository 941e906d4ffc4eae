import type {
  AgentContext,
  CreateElicitationRequest,
  ElicitationPropertySchema,
  PermissionOption,
  RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import {
  CinchError,
  isSuspendedBy,
  type AskUserPayload,
  type Decision,
  type HarnessDisplayState,
  type Json,
  type PendingApproval,
  type PendingSuspension,
  type Session,
} from "@cinch/core";
import { diffContent, shownCall, textContent } from "./acp-call.ts";

interface QuestionPorts {
  client: AgentContext;
  session: Session;
  root: string;
  /** The editor can show a form. */
  hasForms: boolean;
  failed(error: unknown): void;
}

type Pending = PendingApproval | PendingSuspension;

/** Asks the editor what waits for a person. A question that was answered elsewhere is withdrawn. */
export class AcpQuestions {
  readonly #ports: QuestionPorts;
  /** What the editor is asked now. */
  readonly #asked = new Map<string, AbortController>();

  constructor(ports: QuestionPorts) {
    this.#ports = ports;
  }

  /** A question that the editor can only show as text: the next prompt is its answer. */
  typedQuestion({ pendingSuspensions }: HarnessDisplayState): PendingSuspension | undefined {
    return Object.values(pendingSuspensions).find((one) => !this.#canAsk(one));
  }

  update({ pendingApprovals, pendingSuspensions }: HarnessDisplayState): void {
    const approvals = Object.values(pendingApprovals);
    const questions = Object.values(pendingSuspensions).filter((one) => this.#canAsk(one));
    const waiting = new Map<string, Pending>([...approvals, ...questions].map((one) => [idOf(one), one]));
    for (const [id, asked] of this.#asked) if (!waiting.has(id)) this.#withdraw(id, asked);
    for (const [id, one] of waiting) if (!this.#asked.has(id)) this.#ask(id, one);
  }

  close(): void {
    for (const [id, asked] of this.#asked) this.#withdraw(id, asked);
  }

  #withdraw(id: string, asked: AbortController): void {
    this.#asked.delete(id);
    asked.abort();
  }

  #ask(id: string, pending: Pending): void {
    const asked = new AbortController();
    this.#asked.set(id, asked);
    const answer =
      "digest" in pending ? this.#permission(pending, asked.signal) : this.#question(pending, asked.signal);
    answer.catch((error: unknown) => {
      // An answer that comes too late is no failure: another one stands.
      const isLate = error instanceof CinchError && ["NOT_PENDING", "ALREADY_ANSWERED"].includes(error.code);
      if (!asked.signal.aborted && !isLate) this.#ports.failed(error);
    });
  }

  async #permission(pending: PendingApproval, signal: AbortSignal): Promise<void> {
    const { session, root } = this.#ports;
    const { toolCallId, threadId, digest, toolName, args, decisions, suggestion, preview, path } = pending;
    const shown = shownCall(toolName, args, root);
    const title = path.length > 0 ? `${path.join(" › ")}: ${shown.title}` : shown.title;
    const content = diffContent(preview, args, root);
    // The calls of a subagent are not shown, and may have the ids of others.
    const shownId = path.length > 0 ? `${threadId}:${toolCallId}` : toolCallId;
    const call = { ...shown, toolCallId: shownId, title, status: "pending" as const, content };
    const options = decisions.flatMap((decision) => optionOf(decision, { toolName, suggestion }));
    const chosen = await this.#choice({ toolCall: call, options }, signal);
    if (signal.aborted) return;
    if (chosen === null) return session.abort();
    await session.respondToToolApproval({ toolCallId, threadId, digest, decision: chosen as Decision });
  }

  async #question(pending: PendingSuspension, signal: AbortSignal): Promise<void> {
    const { session } = this.#ports;
    const { toolCallId, threadId, seq } = pending;
    const answer = isSuspendedBy(pending, "submit_plan")
      ? await this.#plan(pending, signal)
      : await this.#answer(pending, signal);
    if (signal.aborted) return;
    if (answer === undefined) return session.abort();
    await session.respondToToolSuspension({ toolCallId, threadId, seq, resumeData: answer });
  }

  /** `undefined`: the editor cancels. */
  async #plan({ toolCallId, suspendPayload }: PendingSuspension, signal: AbortSignal): Promise<Json | undefined> {
    const { title, plan } = suspendPayload as { title: string | null; plan: string };
    const content = textContent(plan);
    const toolCall = { toolCallId, title: title ?? "Plan", kind: "switch_mode" as const, content };
    const options: PermissionOption[] = [
      { optionId: "approved", name: "Approve the plan", kind: "allow_once" },
      { optionId: "rejected", name: "Reject the plan", kind: "reject_once" },
    ];
    const action = await this.#choice({ toolCall, options }, signal);
    return action === null ? undefined : { action };
  }

  async #answer(pending: PendingSuspension, signal: AbortSignal): Promise<Json | undefined> {
    const { toolCallId, toolName } = pending;
    const { question, options, multiple } = askedBy(pending);
    if (!this.#ports.hasForms) {
      const toolCall = { toolCallId, title: question, content: textContent(descriptionsOf(options)) };
      const choices = (options ?? []).map(({ label }): PermissionOption => {
        return { optionId: label, name: label, kind: "allow_once" };
      });
      return (await this.#choice({ toolCall, options: choices }, signal)) ?? undefined;
    }
    const { client, session } = this.#ports;
    const sessionId = session.getCurrentThreadId()!;
    const properties = { answer: answerSchema(options, multiple) };
    const requestedSchema = { type: "object" as const, title: toolName, properties, required: ["answer"] };
    const request = {
      mode: "form",
      sessionId,
      toolCallId,
      message: question,
      requestedSchema,
    } as CreateElicitationRequest;
    const response = await client.request("elicitation/create", request, { cancellationSignal: signal });
    if (response.action !== "accept") return response.action === "decline" ? "" : undefined;
    const { content } = response as { content?: { answer?: Json } | null };
    return content?.answer ?? "";
  }

  /** The id of the chosen option. `null`: the editor cancels. */
  async #choice(request: Omit<RequestPermissionRequest, "sessionId">, signal: AbortSignal): Promise<string | null> {
    const { client, session } = this.#ports;
    const sessionId = session.getCurrentThreadId()!;
    const { outcome } = await client.request(
      "session/request_permission",
      { sessionId, ...request },
      { cancellationSignal: signal },
    );
    return outcome.outcome === "selected" ? outcome.optionId : null;
  }

  /** Without forms, a question needs options that can be chosen. */
  #canAsk(pending: PendingSuspension): boolean {
    if (this.#ports.hasForms || isSuspendedBy(pending, "submit_plan")) return true;
    const { options, multiple } = askedBy(pending);
    return options !== null && options.length > 0 && !multiple;
  }
}

const idOf = ({ threadId, toolCallId, seq }: Pending): string => `${threadId}:${toolCallId}.${seq}`;

/** The question of a suspended call, whatever its tool. */
function askedBy(pending: PendingSuspension): AskUserPayload {
  if (isSuspendedBy(pending, "ask_user")) return pending.suspendPayload;
  const { suspendPayload: payload, toolName } = pending;
  const question =
    typeof payload === "string" ? payload : `${toolName} waits for an answer: ${JSON.stringify(payload)}`;
  return { question, options: null, multiple: false };
}

const descriptionsOf = (options: AskUserPayload["options"]): string =>
  (options ?? []).flatMap(({ label, description }) => (description ? [`${label}: ${description}`] : [])).join("\n");

function answerSchema(options: AskUserPayload["options"], multiple: boolean): ElicitationPropertySchema {
  if (!options || options.length === 0) return { type: "string", title: "Answer" };
  const choices = options.map(({ label, description }) => {
    return { const: label, title: label, ...(description === undefined ? {} : { description }) };
  });
  if (multiple) return { type: "array", title: "Answer", items: { anyOf: choices } } as ElicitationPropertySchema;
  return { type: "string", title: "Answer", oneOf: choices };
}

interface Offered {
  toolName: string;
  suggestion: string | null;
}

/** An edit has no place in the protocol. */
function optionOf(decision: Decision, { toolName, suggestion }: Offered): PermissionOption[] {
  switch (decision) {
    case "approve":
      return [{ optionId: decision, name: "Allow", kind: "allow_once" }];
    case "always_allow_tool": {
      const what = suggestion === null ? toolName : `${toolName} ${suggestion}`;
      return [{ optionId: decision, name: `Always allow ${what} in this thread`, kind: "allow_always" }];
    }
    case "always_allow_category":
      return [{ optionId: decision, name: "Always allow this category in this thread", kind: "allow_always" }];
    case "decline":
      return [{ optionId: decision, name: "Decline", kind: "reject_once" }];
    case "edit":
      return [];
  }
}

/** A question that can only be typed, as text. */
export function questionText(pending: PendingSuspension): string {
  const { question, options } = askedBy(pending);
  const list = (options ?? []).map(({ label, description }) => `- ${label}${description ? `: ${description}` : ""}`);
  return [question, ...list].join("\n");
}
