import type { Line } from "../terminal/line.ts";
import { formatPlural } from "./format.ts";
import { signs } from "./signs.ts";
import { clippedSpans, dim, noticeLines, oneRow, roomOf, span, spansWidth } from "./spans.ts";
import { keyOrCommand, type ViewContext } from "./view.ts";

/** A rule across the screen, with a title. */
export function ruleLine(title: string, context: ViewContext): Line {
  const room = roomOf(context);
  if (room === Infinity) return { spans: [span(title === "" ? "Another thread" : `Thread: ${title}`)] };
  if (title === "" || room < 8) return oneRow([span("─".repeat(room), dim)], context);
  const shown = clippedSpans([span(title, { bold: true })], room - 6);
  const rest = Math.max(0, room - spansWidth(shown) - 4);
  return oneRow([span("── ", dim), ...shown, span(` ${"─".repeat(rest)}`, dim)], context);
}

/** `atLeast`: there may be more than are counted. */
export function olderLines(count: number, { atLeast }: { atLeast: boolean }, context: ViewContext): Line[] {
  const messages = formatPlural(count, "earlier message");
  return noticeLines(signs.pending, `${atLeast ? "more than " : ""}${messages}: ${showAll(context)}`, context);
}

export const cutLines = (count: number, context: ViewContext): Line[] =>
  noticeLines(signs.pending, `${formatPlural(count, "earlier line")}: ${showAll(context)}`, context);

const showAll = (context: ViewContext): string => `${keyOrCommand("Ctrl-T", "/thread", context)} shows all`;
