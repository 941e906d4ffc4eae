import { textOf, type Json } from "@cinch/core";
import type { Line, Span } from "../terminal/line.ts";
import { wrapLines } from "../text/wrap.ts";
import { diffCounts, diffHunks, diffLineList } from "../text/diff.ts";
import type { RecordedOutcome, ShownCall } from "./call.ts";
import { jsonFields } from "./call-argument.ts";
import { firstLines, linesIn, moreLines } from "./excerpt.ts";
import { signs } from "./signs.ts";
import { dim, oneRow, roomOf, span } from "./spans.ts";
import { taskRows, tasksDone, tasksOf, type ShownTask } from "./tasks.ts";
import type { ViewContext } from "./view.ts";

/** What is shown of a call's result. */
export interface ShownOutcome {
  sign: Span;
  /** Instead of the tool's name. */
  label?: string;
  /** After the main argument: `+1 −1`, `exit 1`, `denied`. */
  marks: Span[];
  /** Below. */
  body: Line[];
}

const DIFF_ROWS = 20;
const EXCERPT_ROWS = 3;
const OUTPUT_ROWS = 3;
const FAILED_OUTPUT_ROWS = 6;

export function shownOutcome(call: ShownCall, outcome: RecordedOutcome, context: ViewContext): ShownOutcome {
  const { result, isError, unknown } = outcome;
  const details = jsonFields(result.details);
  const content = textOf(result.content);
  if (unknown) return { sign: signs.unknown, marks: [mark("outcome unknown")], body: excerpt(content, context) };
  if (isError) return failed(outcome, context);
  if (typeof details["diff"] === "string") return edited(details["diff"], context);
  switch (call.toolName) {
    case "execute":
      return executed(details, content, context);
    case "write_todos":
      return listed(tasksOf(call.args), context);
    case "task":
      return { sign: signs.done, marks: [], body: excerpt(withoutTags(content), context) };
    case "submit_plan":
      return planned(details, content, context);
    case "ask_user":
      return { sign: signs.done, marks: [], body: excerpt(content, context) };
    default:
      return { sign: signs.done, marks: [], body: [] };
  }
}

/** The whole list when it is new and when it is done. Between, what is done now is enough: the list stands in the live part. */
function listed(tasks: readonly ShownTask[], context: ViewContext): ShownOutcome {
  const isUnderWay = new Set(tasks.map(({ status }) => status === "completed")).size === 2;
  const now = tasks.find(({ status }) => status === "in_progress");
  const head = { sign: signs.done, label: "Tasks" };
  if (!isUnderWay) return { ...head, marks: [mark(tasksDone(tasks))], body: taskRows(tasks, context) };
  const marks = [mark(tasksDone(tasks)), ...(now ? [mark(" · "), span(now.activeForm ?? now.content)] : [])];
  return { ...head, marks, body: [] };
}

/** A plan that the user declined is no failure for the model, but it looks like every other call that was declined. */
function planned(details: Readonly<Record<string, Json>>, content: string, context: ViewContext): ShownOutcome {
  const body = excerpt(content, context);
  if (jsonFields(details["answer"])["action"] !== "rejected") return { sign: signs.done, marks: [], body };
  return { sign: signs.failed, marks: [mark("declined")], body };
}

/** A call that was not run says why in its text. */
function failed({ result }: RecordedOutcome, context: ViewContext): ShownOutcome {
  const body = excerpt(withoutTags(textOf(result.content)), context);
  const word = NOT_RUN[String(jsonFields(result.details)["code"])];
  return { sign: signs.failed, marks: word === undefined ? [] : [mark(word)], body };
}

/** By the code of a result. */
const NOT_RUN: Readonly<Record<string, string>> = { DECLINED: "declined", PERMISSION_DENIED: "denied" };

function edited(unified: string, context: ViewContext): ShownOutcome {
  const hunks = diffHunks(unified);
  const { added, removed } = diffCounts(hunks);
  const shown = hunks.flatMap(({ lines }) => lines).filter((line) => !line.startsWith("\\"));
  // Of a long diff, the journal has only the beginning.
  const missing = Number(MISSING.exec(unified)?.[1] ?? 0);
  const all = shown.length + hunks.length - 1 + missing;
  const left = all > DIFF_ROWS + 1 ? all - DIFF_ROWS : 0;
  const body: Line[] = [];
  // Marking words takes time, so the lines that are not shown are not computed.
  for (const line of diffLineList(hunks)) {
    if (left > 0 && body.length === DIFF_ROWS) break;
    body.push(line);
  }
  if (left > 0) body.push(oneRow([span(`  ${moreLines(left, context)}`, dim)], context));
  const marks = [span(`+${added}`, { color: "green" }), span(" "), span(`−${removed}`, { color: "red" })];
  return { sign: signs.done, marks: missing > 0 ? [...marks, mark(" and more")] : marks, body };
}

const MISSING = /^\\ (\d+) more lines$/m;

/** `details.exit` of a command that has ended; one in the background has none. */
function executed(details: Readonly<Record<string, Json>>, content: string, context: ViewContext): ShownOutcome {
  const exit = jsonFields(details["exit"]);
  const [, ...output] = content.split("\n");
  const lines = linesIn(output.join("\n"));
  if (details["exit"] === undefined) return { sign: signs.done, marks: [mark("in the background")], body: [] };
  if (exit["code"] === 0) return { sign: signs.done, marks: [], body: ending(lines, OUTPUT_ROWS, context) };
  const body = ending(lines, FAILED_OUTPUT_ROWS, context);
  return { sign: signs.failed, marks: [span(exitText(exit), { color: "red" })], body };
}

function exitText(exit: Readonly<Record<string, Json>>): string {
  if (exit["timedOut"] === true) return "time limit";
  if (typeof exit["signal"] === "string") return exit["signal"];
  return `exit ${JSON.stringify(exit["code"] ?? null)}`;
}

const mark = (what: string): Span => span(what, dim);

/** The first lines of a result. */
function excerpt(content: string, context: ViewContext): Line[] {
  const { rows, more } = firstLines(linesIn(content), EXCERPT_ROWS, context);
  return indented(more === "" ? rows : [...rows, more], context);
}

/** The last lines of an output. */
function ending(lines: readonly string[], most: number, context: ViewContext): Line[] {
  const { rows, more } = firstLines(lines.toReversed(), most, context);
  const last = rows.toReversed();
  return indented(more === "" ? last : [more, ...last], context);
}

/** Text of a tool is indented, so that it can't stand where the app writes. */
const indented = (rows: readonly string[], context: ViewContext): Line[] =>
  rows.flatMap((row) => wrapLines([span(row, dim)], roomOf(context), MARGINS));

const MARGINS = { first: [span("  ")], rest: [span("  ")] };

/** The report of a subagent stands between tags, which are for the model. */
const withoutTags = (content: string): string => content.replace(/<\/?task_result\b[^>]{0,200}>/g, "");
