import type { HarnessMessage, Json } from "@cinch/core";
import type { Line, Span } from "../terminal/line.ts";
import { mainArgument, streamedArgument } from "./call-argument.ts";
import { firstLines, lastLines } from "./excerpt.ts";
import { formatCount, formatDuration, formatElapsed } from "./format.ts";
import { shownOutcome } from "./outcome.ts";
import { signs, spinner } from "./signs.ts";
import { dim, joinedSpans, oneRow, revealedSpan, roomOf, span, spansWidth, withRight } from "./spans.ts";
import type { ViewContext } from "./view.ts";

export type RecordedOutcome = HarnessMessage["outcomes"][string];

export interface ShownCall {
  toolName: string;
  args: Json;
}

const MAX_COMMAND_LINES = 10;
const MAX_ARGUMENT = 2_000;
const OUTPUT_ROWS = 3;

/** A call that has ended, as it is printed: one line, and what its result shows. */
export function endedCallLines(asked: ShownCall, outcome: RecordedOutcome, context: ViewContext): Line[] {
  const call = { ...asked, args: outcome.args ?? asked.args };
  const { sign, label, marks, body } = shownOutcome(call, outcome, context);
  const isCommand = call.toolName === "execute";
  const [first = "", ...more] = isCommand ? argumentLines(call) : [firstOf(call.args, call.toolName)];
  const title = titleSpans(sign, label ?? call.toolName, first);
  const time = outcome.durationMs > 0 ? [span(formatDuration(outcome.durationMs), dim)] : [];
  const head = marks.length === 0 ? title : [...title, span("  "), ...marks];
  const fits = spansWidth(head) <= roomOf(context);
  const header: Line = { spans: fits ? withRight(head, time, context) : head, wrap: fits ? "none" : "terminal" };
  return [header, ...commandLines(more, context), ...body];
}

/** A call of which the journal has no result, and never will. */
export const lostCallLine = ({ toolName, args }: ShownCall, context: ViewContext): Line =>
  oneRow([...titleSpans(signs.unknown, toolName, firstOf(args, toolName)), span("  no result", dim)], context);

export type LiveCallState =
  | { kind: "pending" }
  | { kind: "running"; since: number | undefined; output: string }
  | { kind: "waiting" };

/** A call that has not ended, in rows of the screen. */
export function liveCallLines({ toolName, args }: ShownCall, state: LiveCallState, context: ViewContext): Line[] {
  const title = (sign: Span) => titleSpans(sign, toolName, firstOf(args, toolName));
  switch (state.kind) {
    case "pending":
      return [oneRow(title(signs.pending), context)];
    case "waiting":
      return [oneRow([...title(signs.asks), span("  waits for you", dim)], context)];
    case "running": {
      const { rows, count } = lastLines(state.output, OUTPUT_ROWS);
      const time = state.since === undefined ? [] : [[span(formatElapsed(context.now - state.since), dim)]];
      const output = count === "" ? [] : [[span(count, dim)]];
      const head = oneRow(keepingEnd(title(spinner(context)), joinedSpans([[], ...time, ...output]), context), context);
      return [head, ...rows.map((row) => oneRow([span("  "), span(row, dim)], context))];
    }
  }
}

/** A call whose arguments are streaming. */
export function streamedCallLine(toolName: string, json: string, context: ViewContext): Line {
  const size = json.length < 1_000 ? [] : [span(`  ${formatCount(json.length)} characters`, dim)];
  return oneRow([...titleSpans(signs.pending, toolName, streamedArgument(json)), ...size], context);
}

/** The name and main argument of a call, for a line about something else. */
export const callSpans = ({ toolName, args }: ShownCall): Span[] => titleSpans(null, toolName, firstOf(args, toolName));

function titleSpans(sign: Span | null, name: string, argument: string): Span[] {
  const spans = [...(sign ? [sign, span(" ")] : []), span(name, { bold: true })];
  return argument === "" ? spans : [...spans, span(" "), revealedSpan(argument)];
}

const firstOf = (args: Json, toolName: string): string => {
  const [first = "", ...more] = argumentLines({ args, toolName });
  return more.length > 0 ? `${first} …` : first;
};

/** A frame shows the same calls as the one before, and arguments may be long. */
const known = new WeakMap<object, { toolName: string; lines: string[] }>();

function argumentLines({ toolName, args }: ShownCall): string[] {
  if (typeof args !== "object" || args === null) return [];
  const before = known.get(args);
  if (before?.toolName === toolName) return before.lines;
  const whole = mainArgument(toolName, args).trim().split("\n");
  const lines = whole.map((one) => (one.length > MAX_ARGUMENT ? `${one.slice(0, MAX_ARGUMENT)}…` : one));
  known.set(args, { toolName, lines });
  return lines;
}

/** What follows the first line of a command is neither cut nor indented, so that it can be copied. */
function commandLines(rest: readonly string[], context: ViewContext): Line[] {
  const { rows, more } = firstLines(rest, MAX_COMMAND_LINES, context);
  const lines = rows.map((row): Line => ({ spans: [revealedSpan(row)], wrap: "terminal" }));
  return more === "" ? lines : [...lines, oneRow([span(more, dim)], context)];
}

/** The end of a row is kept, and its beginning cut, if there is no room for both. */
function keepingEnd(start: readonly Span[], end: readonly Span[], context: ViewContext): Span[] {
  const room = roomOf(context) - spansWidth(end);
  const minimum = Math.min(roomOf(context), 12);
  return room < minimum ? [...start] : [...oneRow(start, { ...context, width: room + 1 }).spans, ...end];
}
