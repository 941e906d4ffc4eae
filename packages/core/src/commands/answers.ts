import { callsThat, type FindCall, type Waits } from "./answer-target.ts";
import { CinchError } from "../errors.ts";
import type { Decision, NewEvent } from "../events/event-map.ts";
import type { Approval, Call } from "../folds/call.ts";
import type { ThreadState } from "../folds/state.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import { NoJson, toJson } from "../events/json.ts";
import type { Json, Message } from "../events/message.ts";
import { changePolicies } from "../permissions/change.ts";
import { checkDecision, digestOf } from "../permissions/gate.ts";
import { BY_RULES } from "../permissions/by-rules.ts";
import { withTimeout } from "../ports/clock.ts";
import type { ValueCheck } from "../tools/schema.ts";
import type { Thread } from "../thread/thread.ts";
import type { NamedTool } from "../tools/tool.ts";

export interface SuspensionAnswer {
  /** Without it the oldest suspended call is meant. */
  toolCallId?: string;
  threadId?: string;
  resumeData: unknown;
  /** Who answered. */
  by?: string;
  /** The `seq` of the `tool_suspended` that the person was shown. If something else is asked by now, nothing is answered. */
  seq?: number;
}

export interface ApprovalAnswer {
  /** Without it the oldest call that waits for a yes is meant. */
  toolCallId?: string;
  threadId?: string;
  decision: Decision;
  /** With `edit`: what the call runs with. */
  args?: unknown;
  /** For the model. A decline without one ends the turn. */
  message?: string;
  by?: string;
  /** What the person was shown, as `tool_approval_required` gave it. If something else is pending by now, nothing is answered. */
  digest?: string;
}

const MESSAGE_CHARS = 100_000;

/** Gives a suspended call what it waits for. The first answer stands. */
export async function answerSuspension(thread: Thread, answer: SuspensionAnswer, find: FindCall): Promise<void> {
  const { toolCallId, by, seq } = answer;
  const resumeData = jsonOf("resumeData", answer.resumeData);
  const asked = await waiting(thread, "suspended", {
    toolCallId,
    find,
    fits: (call) => seq === undefined || call.asked === seq,
  });
  const tool = await toolOf(thread, asked);
  const problem = await problemOf(thread, tool?.answers, resumeData);
  if (problem !== null)
    throw new CinchError("INVALID_INPUT", `${asked.toolName} does not take this resumeData:\n${problem}`);
  const isAnswered = await thread.command(({ turn, ...state }) => {
    if (!turn || !isStill({ turn, ...state }, asked)) return null;
    const { toolCallId: id, toolName } = asked;
    const who = by === undefined ? {} : { by };
    const resumed = {
      type: "tool_resumed" as const,
      turnId: turn.turnId,
      toolCallId: id,
      toolName,
      resumeData,
      ...who,
    };
    return { events: [resumed], result: true };
  });
  if (!isAnswered) throw await notPending(thread, "suspended", asked.toolCallId);
}

/** Says yes or no to a call. What runs is bound to what was shown; rules are held against it again when it runs. */
export async function answerApproval(thread: Thread, answer: ApprovalAnswer, find: FindCall): Promise<void> {
  const { toolCallId, decision, digest, by } = answer;
  const message = checkedMessage(answer);
  if (by === BY_RULES) throw new CinchError("INVALID_INPUT", `"${BY_RULES}" is who answers when a rule does.`);
  const fits = ({ approval }: Call) => digest === undefined || approval?.digest === digest;
  const asked = await waiting(thread, "asking", { toolCallId, find, fits });
  const approval = asked.approval!;
  checkDecision(decision, approval.decisions);
  const edit = decision === "edit" ? await editOf(thread, asked, answer.args) : { digest: approval.digest };
  await changePolicies(thread, async (state) => {
    const { turn } = state;
    if (!turn || !isStill(state, asked)) throw await notPending(thread, "asking", asked.toolCallId);
    const resolved: NewEvent = {
      type: "tool_approval_resolved",
      turnId: turn.turnId,
      toolCallId: asked.toolCallId,
      toolName: asked.toolName,
      decision,
      ...edit,
      ...(message === undefined ? {} : { message }),
      ...(by === undefined ? {} : { by }),
    };
    return [resolved, ...grantOf(decision, asked, approval)];
  });
}

function jsonOf(name: string, value: unknown): Json {
  try {
    return toJson(value);
  } catch (error) {
    if (!(error instanceof NoJson)) throw error;
    throw new CinchError("INVALID_INPUT", `${name} takes JSON, and nothing was answered: ${error.message}`, error);
  }
}

function checkedMessage({ decision, message, args }: ApprovalAnswer): string | undefined {
  if (message !== undefined && message.length > MESSAGE_CHARS)
    throw new CinchError("INVALID_INPUT", `message is text for the model, of at most ${MESSAGE_CHARS} characters.`);
  if (args !== undefined && decision !== "edit")
    throw new CinchError("INVALID_INPUT", `args go with the decision "edit", not with "${decision}".`);
  return message?.trim() === "" ? undefined : message?.toWellFormed();
}

/** What an answer lets run from now on, without asking. */
function grantOf(decision: Decision, { toolCallId, toolName }: Call, approval: Approval): NewEvent[] {
  const { suggestion, category, interrupt } = approval;
  const from = toolCallId;
  const over = interrupt ? { interrupt } : {};
  if (decision === "always_allow_category") return [{ type: "grant_added", rule: { category, policy: "allow" }, from }];
  if (decision !== "always_allow_tool") return [];
  const match = suggestion === null ? {} : { match: suggestion };
  return [{ type: "grant_added", rule: { toolName, ...match, policy: "allow" }, from, ...over }];
}

async function editOf(thread: Thread, call: Call, edited: unknown) {
  if (edited === undefined)
    throw new CinchError("INVALID_INPUT", 'The decision "edit" needs args: what the call is to run with.');
  const args = jsonOf("args", edited);
  const tool = await toolOf(thread, call);
  const problem = await problemOf(thread, tool?.schema.check, args);
  if (problem !== null) throw new CinchError("INVALID_INPUT", `${call.toolName} does not take these args:\n${problem}`);
  return { args, digest: await digestOf(call.toolName, args) };
}

/** What is wrong with a value, as far as can be told here and now. It is checked again where the call runs. */
async function problemOf(thread: Thread, check: ValueCheck | undefined, value: Json): Promise<string | null> {
  const checked = check && (await withTimeout(thread.ports.clock, check(structuredClone(value))));
  return checked && !checked.ok ? checked.problem : null;
}

/** The tool of a call, if this process has it. */
async function toolOf({ state, ports: { modes } }: Thread, call: Call): Promise<NamedTool | undefined> {
  const { turn, control } = state;
  if (!turn || !modes.has(turn.modeId)) return undefined;
  return (await modes.setup(control, turn.modeId)).tools.get(call.toolName);
}

interface Wanted {
  toolCallId: string | undefined;
  find: FindCall;
  /** Whether it is what whoever answers was shown, if they say what that was. */
  fits(call: Call): boolean;
}

/** The call that is meant. From then on the answer is for that one and no other. */
async function waiting(thread: Thread, waits: Waits, { toolCallId, find, fits }: Wanted): Promise<Call> {
  refuseForeign(thread.state.foreign);
  const call = await find(thread);
  if (!call) throw await notPending(thread, waits, toolCallId);
  if (fits(call)) return call;
  await thread.refresh();
  const newer = callsThat(thread.state, waits).find((one) => one.toolCallId === call.toolCallId && fits(one));
  if (newer) return newer;
  throw new CinchError("NOT_PENDING", "What waits is not what this answer was given for. Look at it again.");
}

const isStill = (state: ThreadState, asked: Call): boolean =>
  callsThat(state, asked.state as Waits).some(
    ({ toolCallId, asked: seq }) => toolCallId === asked.toolCallId && seq === asked.asked,
  );

const answers = { suspended: "tool_resumed", asking: "tool_approval_resolved" } as const;
const fields = { suspended: "pendingSuspensions", asking: "pendingApprovals" } as const;

async function notPending(thread: Thread, waits: Waits, toolCallId: string | undefined): Promise<CinchError> {
  const next = `${fields[waits]} of the display state shows what waits.`;
  if (toolCallId === undefined) return new CinchError("NOT_PENDING", `No call waits for such an answer. ${next}`);
  const recent = await thread.read({ limit: 1_000, last: true });
  // Ids come again: what was answered before this call was made is another one.
  const made = recent.findLastIndex((event) => event.type === "message_end" && calls(event.message, toolCallId));
  const since = recent.slice(Math.max(0, made));
  if (since.some((event) => event.type === answers[waits] && event.toolCallId === toolCallId))
    return new CinchError("ALREADY_ANSWERED", `Call "${toolCallId}" was answered already. The first answer stands.`);
  return new CinchError("NOT_PENDING", `Call "${toolCallId}" does not wait for such an answer. ${next}`);
}

const calls = ({ content }: Message, toolCallId: string): boolean =>
  content.some((part) => part.type === "tool-call" && part.toolCallId === toolCallId);
