import type { HarnessDisplayState, InboxItem } from "@cinch/core";
import type { Line } from "../terminal/line.ts";
import { firstLine } from "./call-argument.ts";
import { userLines, type ProseContext } from "./message.ts";
import { formatTime } from "./format.ts";
import { dim, oneRow, span } from "./spans.ts";
import type { ViewContext } from "./view.ts";

const MAX_ROWS = 3;

/** Inputs that were accepted and not yet taken. One that is about to begin a turn already looks as it will when it is printed. */
export function queueLines(
  { inbox, turnId, status }: Pick<HarnessDisplayState, "inbox" | "turnId" | "status">,
  context: ProseContext,
): Line[] {
  const inputs = inbox.filter(({ note }) => !note);
  const begins = turnId === null && status === "running" ? inputs.find(({ dueAt }) => dueAt === null) : undefined;
  const queued = inputs.filter((item) => item !== begins);
  const shown = queued.length > MAX_ROWS ? queued.slice(0, MAX_ROWS - 1) : queued;
  const left = queued.length - shown.length;
  return [
    ...(begins ? userLines({ content: contentOf(begins) }, context) : []),
    ...shown.map((item) => queuedLine(item, context)),
    ...(left > 0 ? [oneRow([span(`… ${left} more queued`, dim)], context)] : []),
  ];
}

const contentOf = ({ content, files }: InboxItem) => [{ type: "text" as const, text: content }, ...files];

function queuedLine({ delivery, content, files, dueAt }: InboxItem, context: ViewContext): Line {
  const attached = files.length === 0 ? "" : ` +${files.length}`;
  const how = delivery === "steer" ? "steers" : "queued";
  const label = dueAt === null ? how : `at ${formatTime(dueAt, context.now)}`;
  const more = content.trim().includes("\n") ? " …" : "";
  return oneRow([span(`${label}  `, dim), span(`${firstLine(content)}${more}`), span(attached, dim)], context);
}
