import type { Input, InputFile, Session } from "@cinch/core";
import { optionsSchema } from "@cinch/core/options";
import * as z from "zod/mini";
import type { MayRole } from "../access/who.ts";
import { namedField } from "../http/http-error.ts";
import { checkedApproval, checkedSuspension, givenAtOnce } from "./answers.ts";
import { atSeq } from "./at-seq.ts";
import { LongWork } from "./long-work.ts";
import { JSON_ANSWER, once, type RouteAnswers, type RouteCall, type Route, type SessionMethod } from "./route.ts";
import {
  NoBody,
  QueryWait,
  WireApproval,
  WireClone,
  WireFollowUp,
  WireInput,
  WirePost,
  WireSuspension,
  type WireFile,
} from "./wire-schemas.ts";

interface Command {
  may: MayRole;
  orMay?: MayRole;
  summary: string;
  body: z.ZodMiniType;
  run(session: Session, call: RouteCall): Promise<unknown>;
  query?: z.ZodMiniObject;
  answers?: RouteAnswers;
  waits?: boolean;
  takesFiles?: boolean;
}

/** The session of a call is at the thread of its path when `run` is called. */
const onThread = (name: SessionMethod, { run, ...row }: Command): Route => ({
  method: "POST",
  path: `/v1/threads/:threadId/${name}`,
  serves: name,
  ...row,
  handle: (call) =>
    call.parts.seats.use<unknown>(call.params["threadId"]!, call.who, (session) => {
      const answer = run(once(session, call), call).then((value) => atSeq(session, value));
      return row.waits ? new LongWork(answer) : answer;
    }),
});

type Plain = Parameters<typeof optionsSchema>[0] & SessionMethod;

/** A command whose body is the argument of the method. */
const plain = (name: Plain, may: MayRole, summary: string): Route =>
  onThread(name, {
    may,
    summary,
    body: optionsSchema(name),
    run: (session, { body }) => (session[name] as (options: unknown) => Promise<unknown>).call(session, body),
  });

const WAITS = { query: z.strictObject({ wait: QueryWait }), waits: true };

const fileOf = ({ mediaType, filename, ...file }: WireFile): InputFile => ({
  mediaType,
  ...(filename === undefined ? {} : { filename }),
  data: "url" in file ? new URL(file.url) : file.data,
});
const inputOf = <T extends WireInput>({ files, ...input }: T): Omit<T, "files"> & Input => ({
  ...input,
  ...(files ? { files: files.map(fileOf) } : {}),
});

export const commandRoutes: readonly Route[] = [
  onThread("post", {
    may: "talk",
    summary: "Accepts a message. Sent twice with the same id, it is accepted once.",
    body: WirePost,
    takesFiles: true,
    answers: JSON_ANSWER,
    run: (session, { body }) => session.post(inputOf(body as z.infer<typeof WirePost>)),
  }),
  onThread("steer", {
    may: "talk",
    summary: "Adds a message to the running turn.",
    body: WireInput,
    takesFiles: true,
    answers: JSON_ANSWER,
    run: (session, { body }) => session.steer(inputOf(body as WireInput)),
  }),
  onThread("followUp", {
    may: "talk",
    summary: "Queues a message that begins a turn of its own, now or at a time in ms.",
    body: WireFollowUp,
    takesFiles: true,
    answers: JSON_ANSWER,
    run: (session, { body }) => session.followUp(inputOf(body as WireFollowUp)),
  }),
  plain("editInput", "talk", "Changes a queued message."),
  plain("removeInput", "talk", "Removes a queued message."),
  onThread("abort", {
    may: "talk",
    summary: "Ends the turn. 202: it has not ended after `wait` seconds.",
    body: optionsSchema("abort"),
    ...WAITS,
    run: (session, { body }) => session.abort(body as { inbox?: boolean }),
  }),
  onThread("resume", {
    may: "talk",
    summary: "Continues a parked turn, or takes the inputs that an abort held back.",
    body: NoBody,
    run: (session) => session.resume(),
  }),
  onThread("retry", {
    may: "talk",
    summary: "Continues after a turn that failed. 202: the new turn has not ended after `wait` seconds.",
    body: NoBody,
    ...WAITS,
    answers: JSON_ANSWER,
    run: (session) => session.retry(),
  }),
  onThread("compact", {
    may: "manage",
    summary: "Lets the memory shorten the prompt. 202: it is not done after `wait` seconds.",
    body: optionsSchema("compact"),
    ...WAITS,
    answers: JSON_ANSWER,
    run: (session, { body }) => session.compact(body as { instructions?: string }),
  }),
  onThread("respondToToolApproval", {
    may: "approve",
    summary: "Answers a call that waits for an approval. `always_allow_…` needs the role `manage`.",
    body: WireApproval,
    run: givenAtOnce(checkedApproval),
  }),
  onThread("respondToToolSuspension", {
    may: "talk",
    orMay: "approve",
    summary: "Answers a question, which needs the role `talk`, or a plan, which needs `approve`.",
    body: WireSuspension,
    run: givenAtOnce(checkedSuspension),
  }),
  onThread("switchMode", {
    may: "manage",
    summary: "Switches to another mode with the next step.",
    body: optionsSchema("switchMode"),
    run: (session, { body }) =>
      session.switchMode(body as { modeId: string }).catch(namedField("modeId", "UNKNOWN_MODE")),
  }),
  onThread("switchModel", {
    may: "manage",
    summary: "Switches to another model with the next step.",
    body: optionsSchema("switchModel"),
    run: (session, { body }) =>
      session.switchModel(body as Parameters<Session["switchModel"]>[0]).catch(namedField("modelId")),
  }),
  plain("setPermissionForTool", "manage", "Sets a rule of the thread for a tool."),
  plain("setPermissionForCategory", "manage", "Sets a rule of the thread for a category."),
  plain("grantSessionTool", "manage", "Grants a tool to the thread."),
  plain("grantSessionCategory", "manage", "Grants a category to the thread."),
  onThread("setState", {
    may: "manage",
    summary: "Changes the given keys of the thread's state, YOLO among them.",
    body: z.record(z.string(), z.unknown()),
    run: (session, { body }) => session.setState(body as Parameters<Session["setState"]>[0]),
  }),
  plain("renameThread", "talk", "Sets the title."),
  { ...plain("rewind", "manage", "Reverts the conversation, files, or both."), answers: JSON_ANSWER },
  {
    method: "POST",
    path: "/v1/threads/:threadId/cloneThread",
    serves: "cloneThread",
    may: "talk",
    summary: "Creates a thread that begins as this one was at `atSeq`.",
    answers: JSON_ANSWER,
    body: WireClone,
    // Cloning moves a session to the clone, and the seats of callers must stay where they are.
    handle: (call) =>
      call.parts.seats.visit(call.who, (session) =>
        once(session, call).cloneThread({
          sourceThreadId: call.params["threadId"]!,
          ...(call.body as z.infer<typeof WireClone>),
        }),
      ),
  },
];
