import {
  CinchError,
  checkKeys,
  checkModel,
  type ContextPlan,
  type ContextView,
  type Memory,
  type Model,
} from "@cinch/core";
import { recallTool } from "./recall.ts";
import { summaryRequest } from "./texts.ts";
import { lastBoundary, replacing, whyCompact } from "./room.ts";

export interface SummariesOptions {
  /** Default: the thread's own model. */
  model?: Model;
  /** The share of the window that the newest messages may take after a summary. */
  keep?: number;
}

const KEEP = 0.1;
const MOST_KEPT = 0.5;

/** The memory without an observer: at 85 % of the window, a summary replaces the older part of the conversation. */
export function summaries(options: SummariesOptions = {}): Memory {
  checkKeys("summaries", options, ["model", "keep"]);
  const { model, keep = KEEP } = options;
  if (typeof keep !== "number" || !(keep >= 0 && keep <= MOST_KEPT))
    throw new CinchError("INVALID_CONFIG", `summaries: "keep" must be a share of the window from 0 to ${MOST_KEPT}.`);
  checkModel('summaries: "model"', model);
  return {
    tools: { recall: recallTool({ scope: "thread" }) },
    plan: (view) => ({ cut: cutOf(view, keep), observe: null, reflect: null }),
    summarise: (job) => job.ask({ ...summaryRequest({ ...job, room: job.roomOf(model) }), model }),
  };
}

function cutOf(view: ContextView, keep: number): ContextPlan["cut"] {
  const reason = whyCompact(view);
  const end = lastBoundary(view, reason === "window" ? view.window * keep : 0);
  if (reason === null || !end) return null;
  return replacing([view.blocks[0]?.range[0] ?? view.fromSeq, end.seq], reason, view);
}
