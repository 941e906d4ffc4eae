import { CinchError, type Decision, type InputFile, type Json, type Session } from "@cinch/core";
import * as z from "zod/mini";
import { HttpError } from "../../http/http-error.ts";
import { PathId } from "../../routes/wire-schemas.ts";
import type { RouteCall } from "../../routes/route.ts";
import { checkedData, checkedDecision, giveAll, pendingById } from "../given-answers.ts";

const Resume = z.looseObject({
  interruptId: z.string(),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.optional(z.unknown()),
});

/** What `HttpAgent` posts. Frontend tools and context are not used. */
export const AguiBody = z.looseObject({
  threadId: PathId,
  runId: z.string(),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string() })),
  resume: z.optional(z.array(Resume)),
  state: z.optional(z.unknown()),
});
export type AguiBody = z.infer<typeof AguiBody>;

/** The message that the body ends with, if a person wrote it. Messages before it are not read: the journal has them. */
export function runInput({ messages }: AguiBody): { id: string; content: string; files: InputFile[] } | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  const { id, content } = last as { id: string; content?: unknown };
  if (typeof content === "string") return { id, content, files: [] };
  if (!Array.isArray(content)) throw new HttpError(400, "INVALID_INPUT", NOT_CONTENT, { field: "content" });
  const texts: string[] = [];
  const files: InputFile[] = [];
  for (const [at, part] of content.entries()) {
    const { type, text, source } = fieldsOf(part);
    if (type === "text" && typeof text === "string") texts.push(text);
    else files.push(sourceFile(fieldsOf(source), at));
  }
  return { id, content: texts.join("\n"), files };
}

const NOT_CONTENT = "The content of a message must be text, or a list of parts.";

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

function sourceFile(source: Record<string, unknown>, at: number): InputFile {
  const { type, value, mimeType = "application/octet-stream" } = source;
  if (typeof value === "string" && typeof mimeType === "string") {
    if (type === "data") return { mediaType: mimeType, data: value };
    if (type === "url" && /^https:\/\/\S+$/.test(value) && URL.canParse(value))
      return { mediaType: mimeType, data: new URL(value) };
  }
  const message = "A part must be text, or have a source that is data in base64 or a URL that begins with https:.";
  throw new HttpError(400, "INVALID_INPUT", message, { field: `content.${at}` });
}

/** The place that the client has reached, as its shared state says. */
export function reachedPlace({ state }: AguiBody): { turnId: string; seq: number } | undefined {
  const { turnId, seq } = (typeof state === "object" && state !== null ? state : {}) as Record<string, unknown>;
  return typeof turnId === "string" && typeof seq === "number" ? { turnId, seq } : undefined;
}

/**
 * Gives the answers of a body, if all of them can be understood and may be given. A question that is cancelled ends the turn, and so does a call that is
 * declined without a message.
 */
export async function resumeAll(session: Session, call: RouteCall): Promise<void> {
  const pending = pendingById(session.getDisplayState());
  const { resume = [] } = call.body as AguiBody;
  const given = resume.map((answer) => ({ ...pending.get(answer.interruptId), ...answer }));
  const decisions = given.flatMap(({ approval, interruptId, status, payload }) => {
    if (!approval) return [];
    const cancelled = { decision: "decline" as const };
    const decision = status === "cancelled" ? cancelled : decisionOf(payload, interruptId);
    return [() => checkedDecision(session, call, { pending: approval, ...decision })];
  });
  const data = given.flatMap(({ question, status, payload }) => {
    if (!question || status === "cancelled") return [];
    return [() => checkedData(session, call, { pending: question, data: (payload ?? null) as Json })];
  });
  await giveAll([...decisions, ...data], (check) => check());
  if (given.some(({ question, status }) => question && status === "cancelled")) await session.abort();
}

const DecisionPayload = z.looseObject({
  decision: z.optional(z.string()),
  approved: z.optional(z.boolean()),
  message: z.optional(z.string()),
  args: z.optional(z.unknown()),
});

/** `{ decision, args?, message? }`; also `{ approved }`, and `true` or `false`. */
function decisionOf(payload: unknown, interruptId: string): { decision: Decision; args?: unknown; message?: string } {
  if (typeof payload === "boolean") return { decision: payload ? "approve" : "decline" };
  const parsed = z.safeParse(DecisionPayload, payload);
  const { decision, approved, args, message } = parsed.success ? parsed.data : {};
  const chosen = decision ?? (approved === undefined ? undefined : approved ? "approve" : "decline");
  if (chosen === undefined)
    throw new CinchError("INVALID_INPUT", `The payload of ${interruptId} must have a decision, such as "approve".`);
  return {
    decision: chosen as Decision,
    ...(args === undefined ? {} : { args }),
    ...(message === undefined ? {} : { message }),
  };
}
