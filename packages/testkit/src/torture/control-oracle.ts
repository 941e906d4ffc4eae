import { isDeepStrictEqual } from "node:util";
import { newThreadState, reduceThread } from "@cinch/core/journal";
import type { DurableEvent, HeldRule } from "@cinch/core";
import { finalControl } from "./control.ts";

export interface JournalRow {
  journal: number;
  seq: number;
  event: DurableEvent;
}

/** A line of the ledger. */
export interface ToolRun {
  tool: string;
  key: string;
  what: string;
}

/** What the oracle checks: the journals, and the runs of tools. */
export interface Evidence {
  rows: JournalRow[];
  runs: ToolRun[];
}

/** No tool ran before the journal had its call, and none without permission. */
export function unpermitted({ rows, runs }: Evidence): string[] {
  return runs.flatMap(({ tool, key, what }) => {
    const run = `${tool} ${key} (${what})`;
    if (tool === "forbidden") return [`ran although it is denied: ${run}`];
    const at = rows.findIndex(({ event }) => event.type === "tool_start" && event.key === key);
    const start = rows[at]?.event;
    if (start?.type !== "tool_start") return [`ran before the journal had it: ${run}`];
    if (!isDeepStrictEqual(start.args, { what })) return [`ran with other arguments than the journal has: ${run}`];
    const before = rows.slice(0, at).filter(({ journal }) => journal === rows[at]!.journal);
    return tool !== "guarded" || mayRun(start, before) ? [] : [`ran without permission: ${run}`];
  });
}

type Start = Extract<DurableEvent, { type: "tool_start" }>;

/** By an answer to this call with these arguments, by a grant for them, or by YOLO. */
function mayRun({ turnId, toolCallId, args }: Start, before: readonly JournalRow[]): boolean {
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

/** Each approval was answered at most once. */
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

/** The append that ends an approved `submit_plan` switches the mode, and the turn continues in that mode. */
export function wrongModeAfterPlan({ rows }: Evidence): string[] {
  return Array.from(Map.groupBy(rows, ({ journal }) => journal).values()).flatMap(wrongModeIn);
}

function wrongModeIn(rows: readonly JournalRow[]): string[] {
  return rows.flatMap(({ event }, at) => {
    if (event.type !== "tool_end" || event.toolName !== "submit_plan") return [];
    const before = rows[at - 1]?.event;
    if (before?.type !== "mode_changed" || before.modeId !== finalControl.modeId)
      return ["the approved plan did not switch the mode"];
    const answer = rows.findIndex((row, later) => later > at && isAnswer(row.event));
    const acts = rows.slice(0, Math.max(answer, 0)).findLast((row) => row.event.type === "agent_start")?.event;
    const isInMode = acts?.type !== "agent_start" || acts.modeId === finalControl.modeId;
    return isInMode ? [] : [`after the plan the turn continued in mode ${acts.modeId}`];
  });
}

const isAnswer = (event: DurableEvent): boolean =>
  event.type === "message_end" && event.message.role === "assistant" && !event.interrupted;

/** At the end, the thread has the control state that the scenario set, if it came that far. */
export function wrongFinalControl(events: readonly DurableEvent[]): string[] {
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
  const expected = isClone ? { ...finalControl, grants: [] } : finalControl;
  if (isDeepStrictEqual(left, expected)) return [];
  return [`the control state is ${JSON.stringify(left)}, not ${JSON.stringify(expected)}`];
}

const inWords = ({ toolName, policy, match }: HeldRule): string =>
  [toolName, policy, match].filter((word) => word !== undefined).join(" ");
