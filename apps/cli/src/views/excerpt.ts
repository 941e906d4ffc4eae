import { formatPlural } from "./format.ts";
import { keyOrCommand } from "./view.ts";

const MAX_CHARS = 500;
/** `activeTools[id].output` has the end of longer output. */
const MAX_OUTPUT = 8_000;

/** The first lines of a text, and what says that there are more. */
export function firstLines(
  lines: readonly string[],
  most: number,
  context: { width: number },
): { rows: string[]; more: string } {
  const left = lines.length - most;
  // A line that says that one line is missing takes as much room as that line.
  if (left <= 1) return { rows: lines.map(cut), more: "" };
  return { rows: lines.slice(0, most).map(cut), more: moreLines(left, context) };
}

export const moreLines = (count: number, context: { width: number }): string =>
  `… ${formatPlural(count, "more line")}, ${keyOrCommand("Ctrl-O", "/output", context)} shows all`;

/** The last lines of what a command has printed so far. */
export function lastLines(output: string, most: number): { rows: string[]; count: string } {
  const lines = linesIn(output);
  const rows = lines.slice(-most).map(cut);
  if (lines.length <= most) return { rows, count: "" };
  return { rows, count: output.length < MAX_OUTPUT ? `last ${most} of ${lines.length} lines` : `last ${most} lines` };
}

/** Without empty lines at both ends. What a carriage return overwrites was a progress bar. */
export function linesIn(output: string): string[] {
  const lines = output.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  return first === -1 ? [] : lines.slice(first).map(lastRewrite);
}

const lastRewrite = (line: string): string => {
  const end = line.replace(/\r+$/, "");
  return end.slice(end.lastIndexOf("\r") + 1);
};

const cut = (line: string): string => (line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line);
