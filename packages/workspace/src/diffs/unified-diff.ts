import { isDue, yieldIfDue } from "../contents/pace.ts";
import { lineChanges, type LineChange } from "./line-changes.ts";

/** Larger texts are not compared. */
export const MAX_DIFF_BYTES = 1024 * 1024;

/** How much of a diff is recorded with a call. */
const SHOWN_CHARS = 20_000;
const NOTE_CHARS = 40;
const CONTEXT = 3;
const NO_NEWLINE = "\n\\ No newline at end of file";

/** One side of a comparison. `path` is `null` if there is no file. */
export interface DiffSide {
  path: string | null;
  text: string;
}

/**
 * The changes from one text to another as a unified diff. Of a diff with more than `maxChars` characters, the lines that fit, and as the
 * last line "\ 12 more lines". Yields to the event loop.
 */
export async function unifiedDiff(
  before: DiffSide,
  after: DiffSide,
  { maxChars = Infinity }: { maxChars?: number } = {},
): Promise<string> {
  const [oldLines, newLines] = [linesOf(before.text), linesOf(after.text)];
  const lines: string[] = [];
  let [room, missing] = [maxChars - NOTE_CHARS, 0];
  const add = (line: string): void => {
    room -= line.length + 1;
    if (room >= 0) lines.push(line);
    else missing++;
  };
  add(`--- ${before.path === null ? "/dev/null" : quoted(`a${before.path}`)}`);
  add(`+++ ${after.path === null ? "/dev/null" : quoted(`b${after.path}`)}`);
  for await (const hunk of hunks(lineChanges(oldLines, newLines)))
    for (const line of hunkLines(hunk, oldLines, newLines)) {
      add(line);
      if (isDue()) await yieldIfDue();
    }
  if (missing > 0) lines.push(`\\ ${missing} more lines`);
  return `${lines.join("\n")}\n`;
}

/** A diff for a UI, from a text (`null`: there was no file). `undefined` for texts that are too large, or are not text. */
export async function shownDiff(
  path: string,
  before: string | null,
  after: string,
): Promise<{ diff: string } | undefined> {
  const texts = [before ?? "", after];
  if (texts.some((text) => text.length > MAX_DIFF_BYTES || text.includes("\0"))) return undefined;
  const old = { path: before === null ? null : path, text: before ?? "" };
  return { diff: await unifiedDiff(old, { path, text: after }, { maxChars: SHOWN_CHARS }) };
}

/** A name with a line end would look like a part of the diff. */
const quoted = (name: string): string => (/[\p{Cc}"\\]/u.test(name) ? JSON.stringify(name) : name);

/** A last line without a line end differs from the same line with one. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop()!;
  return last === "" ? lines : [...lines, last + NO_NEWLINE];
}

/** Changes whose contexts touch are one hunk. */
async function* hunks(changes: AsyncIterable<LineChange>): AsyncGenerator<LineChange[]> {
  let open: LineChange[] = [];
  for await (const change of changes) {
    const last = open.at(-1);
    if (last && change.oldStart - last.oldEnd > 2 * CONTEXT) {
      yield open;
      open = [];
    }
    open.push(change);
  }
  if (open.length > 0) yield open;
}

function* hunkLines(changes: LineChange[], oldLines: string[], newLines: string[]): Generator<string> {
  const [first, last] = [changes[0]!, changes.at(-1)!];
  const above = Math.min(CONTEXT, first.oldStart);
  const below = Math.min(CONTEXT, oldLines.length - last.oldEnd);
  const old = rangeOf(first.oldStart - above, last.oldEnd + below);
  const now = rangeOf(first.newStart - above, last.newEnd + below);
  yield `@@ -${old} +${now} @@`;
  let at = first.oldStart - above;
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    for (; at < oldStart; at++) yield ` ${oldLines[at]}`;
    for (; at < oldEnd; at++) yield `-${oldLines[at]}`;
    for (let added = newStart; added < newEnd; added++) yield `+${newLines[added]}`;
  }
  for (const end = at + below; at < end; at++) yield ` ${oldLines[at]}`;
}

/** Lines are counted from 1. An empty range is named by the line before it. */
const rangeOf = (start: number, end: number): string => `${end === start ? start : start + 1},${end - start}`;
