import type { HarnessDisplayState, InputFile, PendingApproval, PendingSuspension } from "@cinch/core";
import * as z from "zod/mini";
import { HttpError } from "../../http/http-error.ts";
import { PathId } from "../../routes/wire-schemas.ts";
import { callKey, questionId } from "../given-answers.ts";
import { newCall, type ToolPartState } from "./chunk-state.ts";

const UiPartBody = z.looseObject({ type: z.string() });
const UiMessageBody = z.looseObject({
  id: z.string(),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(UiPartBody),
});
type UiMessageBody = z.infer<typeof UiMessageBody>;

/** What `DefaultChatTransport` posts. Programs may add fields of their own. */
export const ChatBody = z.looseObject({
  id: PathId,
  messages: z.array(UiMessageBody),
  trigger: z.optional(z.enum(["submit-message", "regenerate-message"])),
  messageId: z.optional(z.string()),
});
export type ChatBody = z.infer<typeof ChatBody>;

/**
 * A client posts its whole conversation. What is read of it are the message of the last turn, what follows, and the message that the body
 * names; the journal has the rest.
 */
export function endOfChat(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const { messages, messageId } = body as { messages?: unknown; messageId?: unknown };
  if (!Array.isArray(messages)) return body;
  const last = (messages as ({ role?: unknown } | null)[]).findLastIndex((message) => message?.role === "assistant");
  const named = (messages.slice(0, Math.max(0, last)) as ({ id?: unknown } | null)[]).findLast(
    (message) => messageId !== undefined && message?.id === messageId,
  );
  return { ...body, messages: [...(named ? [named] : []), ...messages.slice(Math.max(0, last))] };
}

/** The message that the body ends with, if a person wrote it. Messages before it are not read: the journal has them. */
export function inputOf({ messages }: ChatBody): { id: string; content: string; files: InputFile[] } | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  const texts = last.parts.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  const files = last.parts.filter(({ type }) => type === "file").map((part, at) => fileOf(part, at));
  return { id: last.id, content: texts.join("\n"), files };
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/]*={0,2})$/;

function fileOf(part: z.infer<typeof UiPartBody>, at: number): InputFile {
  const { url, mediaType, filename } = part;
  const refuse = (message: string) => new HttpError(400, "INVALID_INPUT", message, { field: `files.${at}` });
  if (typeof url !== "string" || typeof mediaType !== "string")
    throw refuse("A file part needs a url and a mediaType.");
  const named = typeof filename === "string" ? { filename } : {};
  const [, , data] = DATA_URL.exec(url) ?? [];
  if (data !== undefined) return { mediaType, data, ...named };
  if (!/^https:\/\/\S+$/.test(url) || !URL.canParse(url))
    throw refuse("The url of a file must begin with https:, or be a data: URL in base64.");
  return { mediaType, data: new URL(url), ...named };
}

/** The UI message of a turn, as the client has it. */
export const turnMessage = ({ messages }: ChatBody, turnId: string): UiMessageBody | undefined =>
  messages.findLast(({ id, role }) => id === turnId && role === "assistant");

/** How far the client has read the turn. `undefined`: its message does not say it. */
export function cursorOf(message: UiMessageBody | undefined): number | undefined {
  const { seq } = (message?.["metadata"] ?? {}) as { seq?: unknown };
  return typeof seq === "number" && Number.isInteger(seq) ? seq : undefined;
}

export type ChatAnswer =
  | { kind: "approval"; pending: PendingApproval; approved: boolean; reason: string | undefined }
  | { kind: "question"; pending: PendingSuspension; output: unknown };

type Pending = Pick<HarnessDisplayState, "pendingApprovals" | "pendingSuspensions" | "threadId">;

/**
 * The answers in the client's message to what waits now. An approval is named by its id. The output of a call is an answer only if the
 * client has seen the question.
 */
export function answersIn(message: UiMessageBody, { threadId, ...pending }: Pending): ChatAnswer[] {
  const seen = cursorOf(message) ?? 0;
  const keyOf = (one: PendingApproval | PendingSuspension) => callKey(one, threadId);
  const partOf = (key: string): Record<string, unknown> =>
    message.parts.findLast(({ toolCallId }) => toolCallId === key) ?? {};
  const approvals = Object.values(pending.pendingApprovals).flatMap((one): ChatAnswer[] => {
    const key = keyOf(one);
    const { state, approval } = partOf(key);
    const { id, approved, reason } = (approval ?? {}) as { id?: unknown; approved?: unknown; reason?: unknown };
    if (state !== "approval-responded" || id !== questionId(key, one.seq) || typeof approved !== "boolean") return [];
    return [{ kind: "approval", pending: one, approved, reason: typeof reason === "string" ? reason : undefined }];
  });
  const questions = Object.values(pending.pendingSuspensions).flatMap((one): ChatAnswer[] => {
    const { state, output, preliminary, errorText } = partOf(keyOf(one));
    if (preliminary === true || (one.threadId === threadId && one.seq > seen)) return [];
    if (state === "output-error")
      throw new HttpError(400, "INVALID_INPUT", `A question can't be answered with an error: ${String(errorText)}`);
    return state === "output-available" ? [{ kind: "question", pending: one, output: output ?? null }] : [];
  });
  return [...approvals, ...questions];
}

/** The calls of subagents that the client shows. */
export function shownCallsIn(message: UiMessageBody | undefined): Record<string, ToolPartState> {
  const ofSubagents = (message?.parts ?? []).filter(({ toolCallId }) => String(toolCallId).includes(":"));
  const calls = ofSubagents.map(({ toolCallId, toolName, state, approval }): [string, ToolPartState] => {
    const { id } = (approval ?? {}) as { id?: unknown };
    const approvalId = typeof id === "string" ? id : null;
    const hasOutput = String(state).startsWith("output-");
    return [String(toolCallId), { ...newCall(String(toolName)), approvalId, hasOutput }];
  });
  return Object.fromEntries(calls);
}
