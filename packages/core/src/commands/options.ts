import * as z from "zod/mini";
import { Budget } from "../config/budget.ts";
import { checked } from "../config/check.ts";
import { Decision, Delivery } from "../events/event-map.ts";
import { hasJsonObject } from "../events/json.ts";
import type { Json } from "../events/message.ts";
import { BY_RULES } from "../folds/call.ts";
import { Policy, ToolCategory } from "../permissions/rule.ts";

const id = z.string().check(z.minLength(1));
const text = z.optional(z.string());
const count = z.optional(z.int("must be a whole number from 1").check(z.gte(1, "must be a whole number from 1")));
const seq = z.optional(z.int("must be a whole number, the seq of an event").check(z.gte(0, "must not be below 0")));
const flag = z.optional(z.boolean());

const Data = z.custom<Uint8Array | string | URL>(
  (value) => typeof value === "string" || value instanceof Uint8Array || value instanceof URL,
  "must be bytes (a Uint8Array), base64 text, or a URL object",
);
const File = z.strictObject({
  mediaType: z.string().check(z.refine((value) => value.includes("/"), 'must be a media type like "image/png"')),
  data: Data,
  filename: text,
});
/** Stores look ids up, and some stores can't distinguish ids with lone surrogates or NUL. */
const isInputId = (value: string) =>
  value.length >= 1 && value.length <= 200 && value.isWellFormed() && !value.includes("\0");
const input = {
  content: z.string(),
  files: z.optional(z.array(File)),
  id: z.optional(z.string().check(z.refine(isInputId, "must be well-formed text of 1 to 200 characters, without NUL"))),
};
const at = z.optional(z.number("must be a time in ms, such as Date.now() + 60_000"));
const NOT_SCHEDULED = 'takes no "at": it is for now. followUp({ content, at }) begins a turn at a time.';
const ONLY_FOLLOW_UP = { path: ["at"], error: 'is only for the delivery "follow_up"' };
const untimed = {
  error: (issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType | z.core.$ZodIssueUnrecognizedKeys>) =>
    issue.code === "unrecognized_keys" && issue.keys.includes("at") ? NOT_SCHEDULED : undefined,
};
/** The same in every store and in every URL. */
const chosenId = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, "_" or "-"'));
const chosenThreadId = z.optional(chosenId);
const METADATA_CHARS = 16_000;
const isMetadata = (value: unknown): boolean => hasJsonObject(value) && JSON.stringify(value).length <= METADATA_CHARS;
const metadata = z.optional(
  z.custom<Record<string, Json>>(isMetadata, `must be a JSON object of at most ${METADATA_CHARS} characters`),
);
const MAX_NAME = 200;
const personName = z.optional(
  z
    .string()
    .check(z.minLength(1), z.maxLength(MAX_NAME))
    .check(z.refine((name) => name !== BY_RULES, `is "${BY_RULES}" only where a rule answers. Give another name`)),
);
const answer = { toolCallId: text, threadId: text, by: text, repeat: flag };
const given = z.custom<unknown>((value) => value !== undefined, "is missing: give the answer, or null");
const Signal = z.custom<AbortSignal>((value) => value instanceof AbortSignal, "must be an AbortSignal");

/**
 * The options of each method. An unknown key is refused: a misspelt option would do nothing. A schema is built when its method is first
 * called, because importing the library must stay cheap.
 */
const SCHEMAS = {
  once: () => z.strictObject({ commandId: chosenId }),
  subscribe: () => z.strictObject({ since: seq }),
  events: () => z.strictObject({ since: seq, signal: z.optional(Signal) }),
  sendMessage: () => z.strictObject(input, untimed),
  post: () =>
    z
      .strictObject({ ...input, delivery: Delivery, at })
      .check(z.refine((value) => value.at === undefined || value.delivery === "follow_up", ONLY_FOLLOW_UP)),
  steer: () => z.strictObject(input, untimed),
  followUp: () => z.strictObject({ ...input, at }),
  editInput: () => z.strictObject({ inputId: id, content: z.string() }),
  removeInput: () => z.strictObject({ inputId: id }),
  abort: () => z.strictObject({ inbox: flag }),
  compact: () => z.strictObject({ instructions: text }),
  respondToToolSuspension: () => z.strictObject({ ...answer, resumeData: given, seq }),
  respondToToolApproval: () =>
    z.strictObject({
      ...answer,
      decision: Decision,
      args: z.optional(z.unknown()),
      message: text,
      digest: text,
    }),
  switchMode: () => z.strictObject({ modeId: id }),
  switchModel: () => z.strictObject({ modelId: id, scope: z.optional(z.enum(["mode", "thread"])) }),
  setPermissionForTool: () => z.strictObject({ toolName: id, policy: Policy, match: text }),
  setPermissionForCategory: () => z.strictObject({ category: ToolCategory, policy: Policy }),
  grantSessionTool: () => z.strictObject({ toolName: id, match: text }),
  grantSessionCategory: () => z.strictObject({ category: ToolCategory }),
  createThread: () => z.strictObject({ id: chosenThreadId, title: text, metadata }),
  switchThread: () => z.strictObject({ threadId: id }),
  renameThread: () => z.strictObject({ title: z.string() }),
  deleteThread: () => z.strictObject({ threadId: id }),
  cloneThread: () => z.strictObject({ id: chosenThreadId, sourceThreadId: z.optional(id), atSeq: seq, title: text }),
  listThreads: () => z.strictObject({ resourceId: text, query: text, limit: count, before: text, parentId: text }),
  settled: () => z.strictObject({ signal: z.optional(Signal) }),
  resultOf: () => z.strictObject({ inputId: id, signal: z.optional(Signal) }),
  listEvents: () => z.strictObject({ after: seq, limit: count }),
  readBlob: () => z.strictObject({ hash: id }),
  listMessages: () => z.strictObject({ limit: count, before: seq }),
  rewind: () =>
    z.strictObject({
      toSeq: z.number(),
      conversation: flag,
      files: flag,
      overwrite: z.optional(z.union([z.boolean(), z.array(z.string())], "must be true, false or a list of paths")),
      dryRun: flag,
    }),
  diff: () => z.strictObject({ since: seq }),
  createSession: () =>
    z.strictObject({ threadId: z.optional(id), resourceId: z.optional(id), confined: flag, by: personName }),
  close: () => z.strictObject({ drainMs: z.optional(z.number().check(z.gte(0, "must not be below 0"))) }),
  drain: () => z.strictObject({ drainMs: z.optional(z.number().check(z.gte(0, "must not be below 0"))) }),
  drive: () => z.strictObject({ threadId: id }),
  followThreads: () => z.strictObject({ resourceId: z.optional(id) }),
  pending: () => z.strictObject({ resourceId: z.optional(id) }),
  removeHeartbeat: () => z.strictObject({ id }),
  setBudget: () => Budget,
};

type Schemas = typeof SCHEMAS;
export type MethodName = keyof Schemas;
export type CheckedOptions<M extends MethodName> = z.infer<ReturnType<Schemas[M]>>;

const built = new Map<keyof Schemas, z.ZodMiniType>();

/** The options of a method, checked. Throws `INVALID_INPUT`. */
export function optionsOf<M extends keyof Schemas>(method: M, options: unknown): CheckedOptions<M> {
  const schema = built.get(method) ?? SCHEMAS[method]();
  built.set(method, schema);
  return checked(schema, options, "INVALID_INPUT", `${method}()`) as CheckedOptions<M>;
}

/** The schema of a method's options. */
export const optionsSchema = <M extends keyof Schemas>(method: M): ReturnType<Schemas[M]> =>
  SCHEMAS[method]() as ReturnType<Schemas[M]>;
