import type { ActiveSubagent, HarnessDisplayState } from "@cinch/core";
import type { Line, Span } from "../terminal/line.ts";
import { widthOf } from "../terminal/width.ts";
import { callSpans } from "./call.ts";
import { firstLine } from "./call-argument.ts";
import { formatCount, formatDuration, formatElapsed } from "./format.ts";
import { signs, spinner } from "./signs.ts";
import { clippedSpans, dim, joinedSpans, oneRow, roomOf, span, spansWidth, withRight } from "./spans.ts";
import type { ViewContext } from "./view.ts";

type Shown = Pick<HarnessDisplayState, "threadId" | "activeSubagents" | "activeTools">;

const MAX_ROWS = 12;
const MAX_NAME = 20;
const MIN_WHAT = 8;

interface TreeRow {
  one: ActiveSubagent;
  branch: string;
}

/** Subagents that are at work, as a tree, with what each does. One that has ended is shown below its parent, while that works. */
export function agentsLines({ threadId, activeSubagents, activeTools }: Shown, context: ViewContext): Line[] {
  const all = Object.values(activeSubagents);
  const isRoot = ({ parentThreadId }: ActiveSubagent) =>
    parentThreadId === threadId || !activeSubagents[parentThreadId];
  const rows = all
    .filter((one) => isRoot(one) && isAtWork(one, all))
    .flatMap((one) => [{ one, branch: "" }, ...below(one, all, "")]);
  const queued = Object.values(activeTools).filter(
    ({ toolName, status }) => toolName === "task" && status === "pending",
  );
  if (rows.length === 0) return [];
  const shown = rows.length > MAX_ROWS ? rows.slice(0, MAX_ROWS - 1) : rows;
  const nameWidth = Math.max(...shown.map(({ one, branch }) => widthOf(branch) + widthOf(nameOf(one))));
  const left = rows.length - shown.length;
  const more = [left > 0 ? `+${left} more` : "", queued.length > 0 ? `+${queued.length} waiting` : ""].filter(Boolean);
  return shown.map((row, index) => {
    const last = index === shown.length - 1 && more.length > 0;
    return rowLine(row, { nameWidth, right: last ? [span(more.join(" · "), dim)] : [] }, context);
  });
}

function below(parent: ActiveSubagent, all: readonly ActiveSubagent[], margin: string): TreeRow[] {
  const children = all.filter(({ parentThreadId }) => parentThreadId === parent.threadId);
  return children.flatMap((one, index) => {
    const isLast = index === children.length - 1;
    const rest = `${margin}${isLast ? "  " : "│ "}`;
    return [{ one, branch: `${margin}${isLast ? "└ " : "├ "}` }, ...below(one, all, rest)];
  });
}

const isAtWork = (one: ActiveSubagent, all: readonly ActiveSubagent[]): boolean =>
  one.endedAt === null || all.some((child) => child.parentThreadId === one.threadId && isAtWork(child, all));

function rowLine(
  { one, branch }: TreeRow,
  { nameWidth, right }: { nameWidth: number; right: Span[] },
  context: ViewContext,
): Line {
  const name = nameOf(one);
  const gap = " ".repeat(nameWidth - widthOf(branch) - widthOf(name) + 2);
  const start = [span(branch, dim), signOf(one, context), span(" "), span(name, { bold: true }), span(gap)];
  const numbers = joinedSpans([[], ...numbersOf(one, context).map((number) => [span(number, dim)])]);
  const end = right.length > 0 ? [span("  "), ...right] : [];
  const room = roomOf(context) - spansWidth(start) - spansWidth(numbers) - spansWidth(end);
  if (room < MIN_WHAT) return oneRow([...start, ...whatSpans(one)], context);
  return oneRow(withRight([...start, ...clippedSpans(whatSpans(one), room), ...numbers], right, context), context);
}

const nameOf = ({ agentName, agentId }: ActiveSubagent): string => {
  const name = agentId === null ? agentName : `${agentName} ${agentId}`;
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
};

function signOf({ endedAt, status, ...one }: ActiveSubagent, context: ViewContext): Span {
  if (endedAt !== null) return status === "complete" ? signs.done : signs.failed;
  if (status === "parked") return signs.pending;
  return status === "waiting" || questionOf(one) ? signs.asks : spinner(context);
}

const questionOf = (one: Pick<ActiveSubagent, "pendingApprovals" | "pendingSuspensions">) =>
  Object.values(one.pendingApprovals)[0] ?? Object.values(one.pendingSuspensions)[0];

/** What it does: its question, its newest call, or what it says. */
function whatSpans(one: ActiveSubagent): Span[] {
  const question = questionOf(one);
  if (question && one.endedAt === null) return [span("asks you: "), ...callSpans(question)];
  if (one.status === "parked") return [span("parked", { color: "red" })];
  if (one.endedAt !== null && one.status !== "complete") return [span(one.status, { color: "red" })];
  const call = one.endedAt === null ? one.toolCalls.findLast(({ isError }) => isError === null) : undefined;
  if (call) return callSpans(call);
  return [span(lastLine(one.text) || firstLine(one.task))];
}

const lastLine = (source: string): string => source.trimEnd().split("\n").at(-1)!.trim();

function numbersOf({ startedAt, durationMs, usage }: ActiveSubagent, { now }: ViewContext): string[] {
  const time = durationMs === null ? formatElapsed(now - startedAt) : formatDuration(durationMs);
  const used = usage.inputTokens + usage.outputTokens;
  return used === 0 ? [time] : [time, formatCount(used)];
}
