import { textOf, type FilePart, type Message } from "@cinch/core";
import type { Line, Span } from "../terminal/line.ts";
import { wrapLines } from "../text/wrap.ts";
import { formatDuration } from "./format.ts";
import { signs } from "./signs.ts";
import { dim, noticeLines, oneRow, roomOf, span } from "./spans.ts";
import type { ViewContext } from "./view.ts";

/** `terminal`: a paragraph is one line, which the terminal wraps. */
export interface ProseContext extends ViewContext {
  wrap?: "words" | "terminal";
}

const ABOUT_NOTHING = "(no text)";

/** As it was written, and never indented: what users paste is copied whole again. */
export function userLines({ content }: Pick<Message, "content">, context: ProseContext): Line[] {
  const files = content.filter((part) => part.type === "file");
  const said = textOf(content).replace(/\n+$/, "");
  const shown = said === "" && files.length === 0 ? ABOUT_NOTHING : said;
  const lines = shown.split("\n").flatMap((row, index) => {
    const first = index === 0 ? [span("You", { color: "cyan", bold: true }), span("  ")] : [];
    return proseLines(row === "" ? [] : [span(row, { color: "cyan" })], first, context);
  });
  return [...lines, ...files.map((file) => fileLine(file, context))];
}

function proseLines(spans: Span[], first: Span[], context: ProseContext): Line[] {
  if (context.wrap === "terminal") return [{ spans: [...first, ...spans], wrap: "terminal" }];
  // The margin takes room in the first row alone, so it is a part of the text.
  return wrapLines([...first, ...spans], roomOf(context));
}

export const fileLine = ({ filename, mediaType, url }: FilePart, context: ViewContext): Line =>
  oneRow([span("  + ", dim), span(filename ?? url ?? "file"), span(` ${mediaType}`, dim)], context);

/** A text of the harness for the model: its beginning. */
export function noteLines({ content }: Pick<Message, "content">, context: ViewContext): Line[] {
  const [first = "", ...rest] = textOf(content).trim().split("\n");
  const more = rest.length > 0 ? " …" : "";
  return [oneRow([signs.folded, span(` note: ${first}${more}`, dim)], context)];
}

/** `ms` is `undefined` if this process has not seen it. */
export const thoughtLine = (ms: number | undefined, context: ViewContext): Line => {
  const time = ms === undefined || ms < 1_000 ? "" : ` ${formatDuration(ms)}`;
  return oneRow([signs.folded, span(` thought${time}`, dim)], context);
};

export const interruptedLines = (context: ViewContext): Line[] =>
  noticeLines(signs.failed, "interrupted: the answer ends here", context);

export const unansweredLines = (context: ViewContext): Line[] =>
  noticeLines(signs.failed, "stopped: there is no answer", context);

/** After a part of an answer that was printed and is not in the journal. */
export const discardedLines = (context: ViewContext): Line[] =>
  noticeLines(signs.failed, "the answer broke off and begins again:", context);
