import * as z from "zod/mini";
import { checked } from "../config/check.ts";
import { Decision, Delivery } from "../events/event-map.ts";
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
/** Stores look ids up, and not every store can tell broken text apart. */
const isInputId = (value: string) =>
  value.length >= 1 && value.length <= 200 && value.isWellFormed() && !value.includes("\0");
const input = {
  content: z.string(),
  files: z.optional(z.array(File)),
  id: z.optional(z.string().check(z.refine(isInputId, "must be well-formed text of 1 to 200 characters, without NUL"))),
};
const answer = { toolCallId: text, threadId: text, by: text };
const given = z.custom<unknown>((value) => value !== undefined, "is missing: give the answer, or null");
const Signal = z.custom<AbortSignal>((value) => value instanceof AbortSignal, "must be an AbortSignal");

/**
 * What each method takes. An unknown key is refused: misspelt, it would be an option that does nothing. Made when a method is first
 * called, because importing the library must stay cheap.
 */
const SHAPES = {
  subscribe: () => z.strictObject({ since: seq }),
  events: () => z.strictObject({ since: seq, signal: z.optional(Signal) }),
  sendMessage: () => z.strictObject(input),
  post: () => z.strictObject({ ...input, delivery: Delivery }),
  steer: () => z.strictObject(input),
  followUp: () => z.strictObject(input),
  editInput: () => z.strictObject({ inputId: id, content: z.string() }),
  removeInput: () => z.strictObject({ inputId: id }),
  abort: () => z.strictObject({ inbox: flag }),
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
  createThread: () => z.strictObject({ title: text }),
  switchThread: () => z.strictObject({ threadId: id }),
  renameThread: () => z.strictObject({ title: z.string() }),
  deleteThread: () => z.strictObject({ threadId: id }),
  cloneThread: () => z.strictObject({ sourceThreadId: z.optional(id), atSeq: seq, title: text }),
  listThreads: () => z.strictObject({ resourceId: text, query: text, limit: count, before: text }),
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
  createSession: () => z.strictObject({ threadId: z.optional(id), resourceId: z.optional(id) }),
  removeHeartbeat: () => z.strictObject({ id }),
};

type Shapes = typeof SHAPES;
type Options<M extends keyof Shapes> = z.infer<ReturnType<Shapes[M]>>;

const made = new Map<keyof Shapes, z.ZodMiniType>();

/** What a method was given, checked. Throws `INVALID_INPUT`. */
export function optionsOf<M extends keyof Shapes>(method: M, options: unknown): Options<M> {
  const shape = made.get(method) ?? SHAPES[method]();
  made.set(method, shape);
  return checked(shape, options, "INVALID_INPUT", `${method}()`) as Options<M>;
}
