import {
  textOf,
  type FileDiff,
  type HarnessDisplayState,
  type HarnessMessage,
  type Json,
  type Part,
  type ToolCallPart,
} from "@cinch/core";
import { line, text, type Line, type Span, type Style } from "../terminal/line.ts";
import { diffHunks, diffLineList } from "../text/diff.ts";
import { MarkdownStream } from "../text/markdown.ts";

const dimmed: Style = { dim: true };
const MARGIN = "  ";

/** A message with all that is folded elsewhere: its reasoning, and its calls with their whole arguments and results. */
export function unfoldedLines(message: HarnessMessage, { width }: { width: number }): Line[] {
  const lines = linesOf(message, width);
  if (message.interrupted) lines.push(line("interrupted: the answer ends here", { color: "red" }));
  return [...lines, line("")];
}

function linesOf(message: HarnessMessage, width: number): Line[] {
  switch (message.role) {
    case "user":
      return [line("You", { color: "cyan", bold: true }), ...message.content.flatMap((part) => writtenPart(part))];
    case "note":
      return [line("note", dimmed), ...textRows(textOf(message.content), dimmed)];
    case "assistant":
      return message.content.flatMap((part) => answeredPart(part, message, width));
  }
}

const writtenPart = (part: Part): Line[] => (part.type === "text" ? textRows(part.text) : otherPart(part));

function answeredPart(part: Part, { outcomes }: HarnessMessage, width: number): Line[] {
  switch (part.type) {
    case "text": {
      const stream = new MarkdownStream({ width: Math.max(1, width - 1), wrap: "terminal" });
      return [...stream.push(part.text), ...stream.end()];
    }
    case "reasoning":
      return part.text.trim() === "" ? [] : [line("▸ thought", dimmed), ...textRows(part.text.trim(), dimmed, MARGIN)];
    case "tool-call":
      return unfoldedCallLines(part, outcomes[part.toolCallId]);
    case "tool-result":
      return [line(`${part.toolName}:`, dimmed), ...textRows(readable(part.result), dimmed, MARGIN)];
    default:
      return otherPart(part);
  }
}

function otherPart(part: Part): Line[] {
  switch (part.type) {
    case "file":
      return [line(`${part.filename ?? part.url ?? "file"} ${part.mediaType}`, dimmed)];
    case "source":
      return textRows(readable(part.source), dimmed, MARGIN);
    case "custom":
      return [line(part.kind, dimmed)];
    default:
      return [];
  }
}

/** A call with its whole arguments and its whole result. */
export function unfoldedCallLines(
  { toolName, input }: ToolCallPart,
  outcome: HarnessMessage["outcomes"][string] | undefined,
): Line[] {
  const lines = [callTitle(toolName, outcome), ...argumentRows(outcome?.args ?? input)];
  if (!outcome) return lines;
  const { details, content } = outcome.result;
  const diff = typeof details === "object" && details && !Array.isArray(details) ? details["diff"] : undefined;
  return [
    ...lines,
    ...(typeof diff === "string" ? diffLineList(diffHunks(diff)) : []),
    ...textRows(textOf(content), dimmed, MARGIN),
  ];
}

/** The newest call of a thread: what a running command has printed so far, or a whole result. `undefined`: there is none. */
export function newestCallLines({
  messages,
  activeTools,
}: Pick<HarnessDisplayState, "messages" | "activeTools">): Line[] | undefined {
  const running = Object.values(activeTools).findLast(({ status, output }) => status === "running" && output !== "");
  if (running) {
    const { toolName, args, output } = running;
    return [line(`… ${toolName}`, { bold: true }), ...argumentRows(args), ...textRows(output, dimmed, MARGIN)];
  }
  for (const { content, outcomes } of messages.toReversed()) {
    const call = content.findLast((part) => part.type === "tool-call" && Object.hasOwn(outcomes, part.toolCallId));
    if (call?.type === "tool-call") return unfoldedCallLines(call, outcomes[call.toolCallId]);
  }
  return undefined;
}

/** The changes of files, each with its whole diff. */
export const fileDiffLines = (files: readonly FileDiff[]): Line[] =>
  files.flatMap(({ path, status, diff, note }) => [
    {
      spans: [
        { text: text(path, { reveal: true }), style: { bold: true } },
        { text: text(`  ${status}`), style: dimmed },
      ],
    },
    ...(note === undefined ? [] : [line(note, dimmed)]),
    ...diffLineList(diffHunks(diff)),
    line(""),
  ]);

function callTitle(toolName: string, outcome: HarnessMessage["outcomes"][string] | undefined): Line {
  const name: Span = { text: text(toolName), style: { bold: true } };
  if (!outcome) return { spans: [{ text: text("? ") }, name, { text: text("  no result"), style: dimmed }] };
  const { isError, unknown, durationMs } = outcome;
  const sign: Span = isError
    ? { text: text("✗ "), style: { color: "red" } }
    : { text: text("✓ "), style: { color: "green" } };
  const state = unknown ? "  outcome unknown" : `  ${(durationMs / 1_000).toFixed(1)} s`;
  return { spans: [sign, name, { text: text(state), style: dimmed }] };
}

/** Each argument by its name, texts as they are. */
function argumentRows(input: Json): Line[] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return revealedRows(readable(input), MARGIN);
  return Object.entries(input).flatMap(([name, value]) => {
    const shown = readable(value);
    if (!shown.includes("\n")) return revealedRows(`${name}: ${shown}`, MARGIN);
    return [...revealedRows(`${name}:`, MARGIN), ...revealedRows(shown, MARGIN.repeat(2))];
  });
}

const readable = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

const textRows = (foreign: string, style: Style = {}, margin = ""): Line[] =>
  foreign
    .replace(/\n+$/, "")
    .split("\n")
    .map((row) => ({ spans: [{ text: text(margin) }, { text: text(row), style }] }));

/** What a call ran with is shown exactly. A tab is no secret. */
const revealedRows = (foreign: string, margin: string): Line[] =>
  foreign.split("\n").map((row) => ({
    spans: [{ text: text(margin) }, { text: text(row.replaceAll("\t", "    "), { reveal: true }) }],
  }));
