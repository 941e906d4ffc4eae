import { isDeepStrictEqual } from "node:util";
import { newThreadState, reduceThread, type DurableEvent, type HeldRule } from "@cinch/core";
import { leftBehind } from "./control.ts";

export interface Row {
  journal: number;
  seq: number;
  event: DurableEvent;
}

/** A line of the ledger. */
export interface Run {
  tool: string;
  key: string;
  what: string;
}

/** What the oracle judges by: the journals, and what has really run. */
export interface Evidence {
  rows: Row[];
  runs: Run[];
}

/** Nothing ran that was not in the journal before, and nothing that nobody had allowed. */
export function unpermitted({ rows, runs }: Evidence): string[] {
  return runs.flatMap(({ tool, key, what }) => {
    const run = `${tool} ${key} (${what})`;
    if (tool === "forbidden") return [`denied, and ran: ${run}`];
    const at = rows.findIndex(({ event }) => event.type === "tool_start" && event.key === key);
    const start = rows[at]?.event;
    if (start?.type !== "tool_start") return [`ran before the journal had it: ${run}`];
    if (!isDeepStrictEqual(start.args, { what })) return [`ran with other arguments than the journal has: ${run}`];
    const before = rows.slice(0, at).filter(({ journal }) => journal === rows[at]!.journal);
    return tool !== "guarded" || mayRun(start, before) ? [] : [`ran without a yes: ${run}`];
  });
}

type Start = Extract<DurableEvent, { type: "tool_start" }>;

/** By an answer to this very call and these arguments, by a grant for them, or by YOLO. */
function mayRun({ turnId, toolCallId, args }: Start, before: readonly Row[]): boolean {
  const events = before.map(({ event }) => event);
  const isYolo = events.map(yoloIn).findLast((yolo) => yolo !== undefined) === true;
  const isGranted = events.some(
    (event) => event.type === "grant_added" && isDeepStrictEqual(args, { what: event.rule.match }),
  );
  const ofThis = (event: DurableEvent) =>
    "toolCallId" in event && event.toolCallId === toolCallId && event.turnId === turnId;
  const asked = events.findLast((event) => event.type === "tool_approval_required" && ofThis(event));
  const answer = events.findLast((event) => event.type === "tool_approval_resolved" && ofThis(event));
  const isApproved =
    asked?.type === "tool_approval_required" &&
    answer?.type === "tool_approval_resolved" &&
    answer.decision !== "decline" &&
    isDeepStrictEqual(args, answer.args ?? asked.args);
  return isYolo || isGranted || isApproved;
}

function yoloIn(event: DurableEvent): unknown {
  if (event.type === "state_changed") return event.updates["yolo"];
  return event.type === "thread_cloned" || event.type === "thread_rewound" ? event.state?.["yolo"] : undefined;
}

/** Whatever was asked for was answered once, if at all. */
export function answeredTwice({ rows }: Evidence): string[] {
  const open = new Set<string>();
  return rows.flatMap(({ journal, event }) => {
    if (event.type !== "tool_approval_required" && event.type !== "tool_approval_resolved") return [];
    const call = `${journal} ${event.turnId} ${event.toolCallId}`;
    if (event.type === "tool_approval_required") open.add(call);
    else if (!open.delete(call)) return [`answered without a question: ${call}`];
    return [];
  });
}

/** A plan that was approved leads into the next mode, in the append that ends the call, and the turn goes on there. */
export function leftMode({ rows }: Evidence): string[] {
  return rows.flatMap(({ event }, at) => {
    if (event.type !== "tool_end" || event.toolName !== "submit_plan") return [];
    const before = rows[at - 1]?.event;
    if (before?.type !== "mode_changed" || before.modeId !== leftBehind.modeId) return ["approved, and no other mode"];
    const answer = rows.findIndex((row, later) => later > at && isAnswer(row.event));
    const acts = rows.slice(0, Math.max(answer, 0)).findLast((row) => row.event.type === "agent_start")?.event;
    const isThere = acts?.type !== "agent_start" || acts.modeId === leftBehind.modeId;
    return isThere ? [] : [`after the plan the turn went on in mode ${acts.modeId}`];
  });
}

const isAnswer = (event: DurableEvent): boolean =>
  event.type === "message_end" && event.message.role === "assistant" && !event.interrupted;

/** What was set on the thread is there at its end, if anything was. */
export function notLeftAsMeant(events: readonly DurableEvent[]): string[] {
  if (!events.some(({ type }) => type === "mode_changed")) return [];
  const isClone = events.some(({ type }) => type === "thread_cloned");
  const { control, tasks } = events.reduce(reduceThread, newThreadState);
  const { modeId, models, policies } = control;
  const left = {
    modeId,
    models,
    yolo: policies.yolo,
    rules: policies.rules.map(inWords),
    grants: policies.grants.map(inWords),
    tasks: tasks.map(({ content, status }) => `${content}: ${status}`),
  };
  const meant = isClone ? { ...leftBehind, grants: [] } : leftBehind;
  return isDeepStrictEqual(left, meant) ? [] : [`left as ${JSON.stringify(left)}, not as ${JSON.stringify(meant)}`];
}

const inWords = ({ toolName, policy, match }: HeldRule): string =>
  [toolName, policy, match].filter((word) => word !== undefined).join(" ");
