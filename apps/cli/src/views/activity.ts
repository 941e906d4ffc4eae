import type { HarnessDisplayState } from "@cinch/core";
import type { Activity } from "../app/activity.ts";
import type { Line, Span } from "../terminal/line.ts";
import { callSpans } from "./call.ts";
import { firstLine } from "./call-argument.ts";
import { formatElapsed, formatPlural } from "./format.ts";
import { signs, spinner } from "./signs.ts";
import { dim, fittingFields, joinedSpans, oneRow, span } from "./spans.ts";
import { providerName } from "./status.ts";
import type { ViewContext } from "./view.ts";

/** What is being waited for. */
export interface TurnWait {
  what: Span[];
  since: number | null;
}

/** What the turn waits for and since when. A wait for the user has no spinner. Nothing, if the thread is idle or parked. */
export function activityLines(display: HarnessDisplayState, activity: Activity, context: ViewContext): Line[] {
  switch (display.status) {
    case "idle":
    case "parked":
      return activity.compacting === null ? [] : [waitLine(turnWait(display, activity, context), [], context)];
    case "waiting":
      return [oneRow([signs.asks, span(" "), ...questionSpans(display)], context)];
    case "running":
      return [
        waitLine(turnWait(display, activity, context), activity.stopping ? [] : [span("Esc stops", dim)], context),
      ];
  }
}

/** What does not fit is dropped from the right. */
export function waitLine({ what, since }: TurnWait, hint: Span[], context: ViewContext): Line {
  const fields = [[spinner(context), span(" "), ...what]];
  if (since !== null) fields.push([span(formatElapsed(context.now - since), dim)]);
  if (hint.length > 0) fields.push(hint);
  return oneRow(joinedSpans(fittingFields(fields, context)), context);
}

export function turnWait(display: HarnessDisplayState, activity: Activity, { now }: ViewContext): TurnWait {
  const { asked, retry, compacting, store, stopping } = activity;
  if (store !== null) return { what: [span("waits for the store")], since: store };
  if (stopping) return { what: [span("stops")], since: null };
  if (retry) {
    const seconds = Math.max(0, Math.ceil((retry.due - now) / 1_000));
    return { what: [span(`retry ${retry.attempt} in ${seconds} s: ${firstLine(retry.message)}`)], since: null };
  }
  if (asked !== null || display.currentMessage) return { what: [span(modelText(display))], since: asked };
  return (
    callsWait(display, activity) ?? subagentsWait(display) ?? { what: [span(restText(compacting))], since: compacting }
  );
}

const restText = (compacting: number | null): string => (compacting === null ? "begins" : "compacts the conversation");

function modelText({ modelId, currentMessage }: HarnessDisplayState): string {
  const name = modelId === null ? "the model" : providerName(modelId);
  const newest = currentMessage?.content.at(-1);
  if (!newest) return `waits for ${name}`;
  return newest.type === "reasoning" ? `${name} thinks` : `${name} answers`;
}

function callsWait({ activeTools }: HarnessDisplayState, { started }: Activity): TurnWait | null {
  const running = Object.values(activeTools).filter(({ status }) => status === "running");
  const [first] = running;
  if (!first) return null;
  const since = Math.min(...running.map(({ toolCallId }) => started[toolCallId] ?? Infinity));
  const what = running.length === 1 ? callSpans(first) : [span(`${formatPlural(running.length, "call")} run`)];
  return { what, since: since === Infinity ? null : since };
}

function subagentsWait({ activeSubagents, activeTools }: HarnessDisplayState): TurnWait | null {
  const active = Object.values(activeSubagents).filter(({ endedAt }) => endedAt === null);
  const waiting = Object.values(activeTools).some(({ forChildren }) => forChildren);
  if (active.length === 0 && !waiting) return null;
  const what =
    active.length === 1 ? `${active[0]!.agentName} works` : `${formatPlural(active.length, "subagent")} work`;
  return { what: [span(what)], since: Math.min(...active.map(({ startedAt }) => startedAt)) };
}

function questionSpans({ pendingApproval, pendingSuspensions }: HarnessDisplayState): Span[] {
  const question = pendingApproval ?? Object.values(pendingSuspensions)[0];
  if (!question) return [span("waits for you")];
  return [span("waits for you: "), ...callSpans(question)];
}
