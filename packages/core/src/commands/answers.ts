import { waitingCalls, type FindCall, type WaitingState } from "./answer-target.ts";
import { CinchError } from "../errors.ts";
import type { Decision, DurableEvent, NewEvent } from "../events/event-map.ts";
import { BY_RULES, questionSeq, type Call } from "../folds/call.ts";
import type { ThreadState } from "../folds/state.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import { NoJson, toJson } from "../events/json.ts";
import type { Json, Message } from "../events/message.ts";
import { alreadyAnswered, ANSWER, orRepeated, type AnswerEvent } from "./repeated-answer.ts";
import { policyCommand } from "./policy-command.ts";
import { checkDecision, digestOf } from "../permissions/gate.ts";
import { withTimeout } from "../ports/clock.ts";
import type { ValueCheck } from "../tools/schema.ts";
import { SignedThread } from "../thread/signed-thread.ts";
import type { Thread } from "../thread/thread.ts";
import type { NamedTool } from "../tools/tool.ts";

export interface SuspensionAnswer {
  /** Default: the oldest suspended call. */
  toolCallId?: string;
  threadId?: string;
  resumeData: unknown;
  /** The name of the responder. That of the session takes its place, if the session has one. */
  by?: string;
  /** The `seq` of the `tool_suspended` event that the responder saw. If another question waits by now, the answer is refused. */
  seq?: number;
  /** Only compares the answer with the one that is recorded: a call that waits is not answered. */
  repeat?: boolean;
}

export interface ApprovalAnswer {
  /** Default: the oldest call that waits for an approval. */
  toolCallId?: string;
  threadId?: string;
  decision: Decision;
  /** With `edit`: the arguments that the call runs with. */
  args?: unknown;
  /** For the model. A decline without one ends the turn. */
  message?: string;
  by?: string;
  /** From the `tool_approval_required` event that the responder saw. If another call is pending by now, the answer is refused. */
  digest?: string;
  /** Only compares the answer with the one that is recorded: a call that waits is not answered. */
  repeat?: boolean;
}

const MESSAGE_CHARS = 100_000;

/** Answers a suspended call. The first answer stands, and the person who gave it may give it again. */
export async function answerSuspension(signed: SignedThread, answer: SuspensionAnswer, find: FindCall): Promise<void> {
  const { seq } = answer;
  const by = signed.by ?? answer.by;
  const resumeData = jsonOf("resumeData", answer.resumeData);
  const isSame = async (given: AnswerEvent) =>
    given.type === "tool_resumed" && given.by === by && (await isSameJson(given.resumeData, resumeData));
  const isQuestion = (event: { seq: number }) => event.seq === seq;
  const named =
    by === undefined || seq === undefined ? null : { ...answer, waiting: "suspended" as const, isQuestion, isSame };
  await orRepeated(signed.thread, named, () => giveData(signed, { ...answer, by, resumeData }, find));
}

interface GivenData extends Omit<SuspensionAnswer, "by"> {
  by: string | undefined;
  resumeData: Json;
}

async function giveData(signed: SignedThread, answer: GivenData, find: FindCall): Promise<void> {
  const { thread } = signed;
  const { toolCallId, seq, by, resumeData, repeat } = answer;
  if (repeat) throw await notPending(thread, "suspended", toolCallId);
  const isNamed = seq === undefined ? null : (one: Call) => questionSeq(one) === seq;
  const call = await findWaiting(thread, "suspended", { toolCallId, find, isNamed });
  const tool = await toolOf(thread, call);
  const problem = await problemOf(thread, tool?.checkAnswer, resumeData);
  if (problem !== null)
    throw new CinchError("INVALID_INPUT", `${call.toolName} does not accept this resumeData:\n${problem}`);
  const isAnswered = await signed.command(({ turn, ...state }) => {
    if (!turn || !isStillWaiting({ turn, ...state }, call)) return null;
    const { toolCallId: id, toolName } = call;
    const resumed = {
      type: "tool_resumed" as const,
      turnId: turn.turnId,
      toolCallId: id,
      toolName,
      resumeData,
      ...(by === undefined ? {} : { by }),
    };
    return { events: [resumed], result: true };
  });
  if (!isAnswered) throw await notPending(thread, "suspended", call.toolCallId);
}

/** Answers a call that waits for an approval. The answer is bound to the digest of the call, and rules are checked again when it runs. */
export async function answerApproval(signed: SignedThread, answer: ApprovalAnswer, find: FindCall): Promise<void> {
  const { decision, digest } = answer;
  const by = signed.by ?? answer.by;
  const message = checkedMessage(answer);
  if (by === BY_RULES)
    throw new CinchError("INVALID_INPUT", `by is "${BY_RULES}" only where a rule answers. Give another name.`);
  const isSame = async (given: AnswerEvent) =>
    given.type === "tool_approval_resolved" &&
    given.by === by &&
    given.decision === decision &&
    given.message === message &&
    (decision !== "edit" || (await isSameJson(given.args, jsonOf("args", answer.args))));
  const isQuestion = (event: DurableEvent) => event.type === "tool_approval_required" && event.digest === digest;
  const named =
    by === undefined || digest === undefined ? null : { ...answer, waiting: "asking" as const, isQuestion, isSame };
  await orRepeated(signed.thread, named, () => giveDecision(signed, { ...answer, by, message }, find));
}

interface GivenDecision extends Omit<ApprovalAnswer, "by" | "message"> {
  by: string | undefined;
  message: string | undefined;
}

async function giveDecision(signed: SignedThread, answer: GivenDecision, find: FindCall): Promise<void> {
  const { thread } = signed;
  const { toolCallId, decision, digest, by, message, repeat } = answer;
  if (repeat) throw await notPending(thread, "asking", toolCallId);
  const isNamed = digest === undefined ? null : ({ approval }: Call) => approval?.digest === digest;
  const call = await findWaiting(thread, "asking", { toolCallId, find, isNamed });
  const approval = call.approval!;
  const { grantTo } = call;
  checkDecision(decision, approval.decisions);
  const edit = decision === "edit" ? await editOf(thread, call, answer.args) : { digest: approval.digest };
  const grants = grantOf(decision, call);
  await policyCommand(signed, async (state) => {
    const { turn } = state;
    if (!turn || !isStillWaiting(state, call)) throw await notPending(thread, "asking", call.toolCallId);
    const resolved: NewEvent = {
      type: "tool_approval_resolved",
      turnId: turn.turnId,
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      decision,
      ...edit,
      ...(message === undefined ? {} : { message }),
      ...(by === undefined ? {} : { by }),
    };
    return grantTo === null ? [resolved, ...grants] : [resolved];
  });
  // After the answer: if the process ends in between, the next such call asks again.
  if (grantTo !== null && grants.length > 0)
    await thread.ports.threads.visit(grantTo, (above) =>
      policyCommand(new SignedThread(above, { by: signed.by }), async () => grants),
    );
}

const isSameJson = async (a: Json | undefined, b: Json): Promise<boolean> =>
  a !== undefined && (await digestOf("", a)) === (await digestOf("", b));

function jsonOf(name: string, value: unknown): Json {
  try {
    return toJson(value);
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw new CinchError("INVALID_INPUT", `${name} must be JSON, and no answer was recorded: ${error.message}`, error);
  }
}

function checkedMessage({ decision, message, args }: ApprovalAnswer): string | undefined {
  if (message !== undefined && message.length > MESSAGE_CHARS)
    throw new CinchError("INVALID_INPUT", `message has ${message.length} characters: give at most ${MESSAGE_CHARS}.`);
  if (args !== undefined && decision !== "edit")
    throw new CinchError("INVALID_INPUT", `args go with the decision "edit", not with "${decision}".`);
  return message?.trim() === "" ? undefined : message?.toWellFormed();
}

/** The grant that an answer adds, if it adds one. */
function grantOf(decision: Decision, { toolCallId, toolName, approval, interrupt }: Call): NewEvent[] {
  const { suggestion, category } = approval!;
  const from = toolCallId;
  const answersInterrupt = interrupt ? { interrupt } : {};
  if (decision === "always_allow_category") return [{ type: "grant_added", rule: { category, policy: "allow" }, from }];
  if (decision !== "always_allow_tool") return [];
  const match = suggestion === null ? {} : { match: suggestion };
  return [{ type: "grant_added", rule: { toolName, ...match, policy: "allow" }, from, ...answersInterrupt }];
}

async function editOf(thread: Thread, call: Call, edited: unknown) {
  if (edited === undefined)
    throw new CinchError("INVALID_INPUT", 'The decision "edit" needs args: the arguments that the call runs with.');
  const args = jsonOf("args", edited);
  const tool = await toolOf(thread, call);
  const problem = await problemOf(thread, tool?.schema.check, args);
  if (problem !== null)
    throw new CinchError("INVALID_INPUT", `${call.toolName} does not accept these args:\n${problem}`);
  return { args, digest: await digestOf(call.toolName, args) };
}

/** What is wrong with a value. `null` if nothing is, or if the check takes too long: the driver checks it again. */
async function problemOf(thread: Thread, check: ValueCheck | undefined, value: Json): Promise<string | null> {
  const checked = check && (await withTimeout(thread.ports.clock, check(structuredClone(value))));
  return checked && !checked.ok ? checked.problem : null;
}

/** `undefined`: this process does not have the tool. */
async function toolOf({ state, ports: { modes } }: Thread, call: Call): Promise<NamedTool | undefined> {
  const { turn } = state;
  if (!turn || !modes.has(turn.modeId)) return undefined;
  return modes.setupOfCalls(state).tools.get(call.toolName);
}

interface CallQuery {
  toolCallId: string | undefined;
  find: FindCall;
  /** Matches the question that the answer names by its digest or its `seq`. `null`: it names none. */
  isNamed: ((call: Call) => boolean) | null;
}

async function findWaiting(
  thread: Thread,
  waiting: WaitingState,
  { toolCallId, find, isNamed }: CallQuery,
): Promise<Call> {
  refuseForeign(thread.state.foreign);
  const call = await find(thread);
  if (call && (!isNamed || isNamed(call))) return call;
  const id = call?.toolCallId ?? toolCallId;
  if (isNamed && id !== undefined) {
    // The responder may have seen a newer question than this process.
    await thread.refresh();
    const newer = waitingCalls(thread.state, waiting).find((one) => one.toolCallId === id && isNamed(one));
    if (newer) return newer;
  }
  if (!call) throw await notPending(thread, waiting, toolCallId);
  throw new CinchError(
    "NOT_PENDING",
    `This answer is for another question than the one that waits. ${DISPLAY_FIELD[waiting]} of the display state shows what waits.`,
  );
}

const isStillWaiting = (state: ThreadState, call: Call): boolean =>
  waitingCalls(state, call.state as WaitingState).some(
    (one) => one.toolCallId === call.toolCallId && questionSeq(one) === questionSeq(call),
  );

const DISPLAY_FIELD = { suspended: "pendingSuspensions", asking: "pendingApprovals" } as const;

async function notPending(thread: Thread, waiting: WaitingState, toolCallId: string | undefined): Promise<CinchError> {
  const next = `${DISPLAY_FIELD[waiting]} of the display state shows what waits.`;
  if (toolCallId === undefined) return new CinchError("NOT_PENDING", `No call waits for such an answer. ${next}`);
  const recent = await thread.read({ limit: 1_000, last: true });
  // Models reuse call ids: an answer from before this call's message was for another call.
  const requested = recent.findLastIndex((event) => event.type === "message_end" && hasCall(event.message, toolCallId));
  const since = recent.slice(Math.max(0, requested));
  if (since.some((event) => event.type === ANSWER[waiting] && event.toolCallId === toolCallId))
    return alreadyAnswered(toolCallId);
  return new CinchError("NOT_PENDING", `Call "${toolCallId}" does not wait for such an answer. ${next}`);
}

const hasCall = ({ content }: Message, toolCallId: string): boolean =>
  content.some((part) => part.type === "tool-call" && part.toolCallId === toolCallId);
