import type { HarnessDisplayState } from "@cinch/core";
import type { Line, Span } from "../terminal/line.ts";
import { formatCost, formatCount, formatShare } from "./format.ts";
import { dim, fittingFields, joinedSpans, oneRow, span } from "./spans.ts";
import type { ViewContext } from "./view.ts";

type Shown = Pick<HarnessDisplayState, "modeId" | "modelId" | "tokenUsage" | "cost" | "omProgress" | "inbox" | "yolo">;

/** What the display state does not know. */
export interface StatusOptions {
  /** In dollars. */
  budget?: number | undefined;
  /** The branch of the folder's repository. */
  branch?: string | undefined;
}

/** From the most to the least important: when there is no room, fields are dropped from the right. */
export function statusLine(display: Shown, options: StatusOptions, context: ViewContext): Line {
  const { modeId, modelId, tokenUsage, cost, omProgress, inbox, yolo } = display;
  const { inputTokens, outputTokens, cacheReadTokens } = tokenUsage;
  const queued = inbox.filter(({ note, dueAt }) => !note && dueAt === null).length;
  const fields: Span[][] = [];
  const add = (field: string | null | undefined, style = dim) => {
    if (field) fields.push([span(field, style)]);
  };
  if (yolo) fields.push([span("YOLO", { color: "red", bold: true })]);
  add(modeId);
  add(modelId && modelName(modelId));
  if (inputTokens + outputTokens > 0) add(`${formatCount(inputTokens + outputTokens)} tok`);
  if (inputTokens > 0 && cacheReadTokens > 0) add(`${formatShare(cacheReadTokens / inputTokens)} cached`);
  // What a thread without a step costs is known.
  add(spentText(inputTokens + outputTokens === 0 && options.budget !== undefined ? 0 : cost, options.budget));
  if (omProgress && omProgress.messageLimit > 0)
    add(`memory ${formatShare(omProgress.messageTokens / omProgress.messageLimit)}`);
  add(options.branch);
  if (queued > 0) add(`${queued} queued`);
  return oneRow(joinedSpans(fittingFields(fields, context)), context);
}

function spentText(cost: number | null, budget: number | undefined): string | null {
  if (cost === null) return budget === undefined ? null : `$?/${budget}`;
  return budget === undefined ? formatCost(cost) : `${formatCost(cost)}/${budget}`;
}

/** `sonnet-5` for `anthropic/claude-sonnet-5-20260901`. */
export const modelName = (modelId: string): string =>
  modelId
    .slice(modelId.lastIndexOf("/") + 1)
    .replace(/^claude-(?=.)/, "")
    .replace(/-\d{8}$/, "");

/** `anthropic` for `anthropic/claude-sonnet-5`; the model itself, if it has no provider. */
export const providerName = (modelId: string): string => modelId.split("/", 1)[0]!;
