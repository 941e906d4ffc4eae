import { setImmediate } from "node:timers/promises";
import { diffWordsWithSpace } from "diff";
import { text, type Line, type Span, type Style } from "../terminal/line.ts";

/** Neighbouring changes, with the unchanged lines around them. A line starts with `+`, `-` or a space. */
export interface DiffHunk {
  oldStart: number;
  newStart: number;
  lines: string[];
}

/** In longer lines, and where little is equal, marking words helps no reader. */
const MAX_WORD_LINE = 500;
const MIN_EQUAL_SHARE = 0.3;
const MAX_WORD_RUN = 100;
/** No piece keeps the event loop busy for longer. */
const PIECE_MS = 10;
const HEADER = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Reads a unified diff, which may have been truncated. */
export function diffHunks(unified: string): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  for (const line of unified.replace(/\n$/, "").split("\n")) {
    const header = HEADER.exec(line);
    if (header) hunks.push({ oldStart: Number(header[1]), newStart: Number(header[2]), lines: [] });
    else hunks.at(-1)?.lines.push(line);
  }
  return hunks;
}

export function diffCounts(hunks: DiffHunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

/** The hunks with line numbers and the changed words marked. Each line is computed when it is taken. */
export function* diffLineList(hunks: DiffHunk[]): Generator<Line> {
  const last = hunks.at(-1);
  const digits = last ? String(Math.max(last.oldStart, last.newStart) + last.lines.length).length : 1;
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0)
      yield { spans: [{ text: text(`${" ".repeat(digits + MARGIN)} ⋮`), style: { dim: true } }], wrap: "none" };
    yield* hunkLines(hunk, digits);
  }
}

/** What is computed item by item in pieces, between which the event loop can do other work. */
export async function* inPieces<T>(items: Iterable<T>): AsyncGenerator<T[]> {
  let piece: T[] = [];
  let started = performance.now();
  for (const item of items) {
    piece.push(item);
    if (performance.now() - started < PIECE_MS) continue;
    yield piece;
    await setImmediate();
    piece = [];
    started = performance.now();
  }
  if (piece.length > 0) yield piece;
}

const MARGIN = 2;
const REMOVED: Style = { color: "red" };
const ADDED: Style = { color: "green" };

function* hunkLines({ oldStart, newStart, lines }: DiffHunk, digits: number): Generator<Line> {
  let [oldLine, newLine] = [oldStart, newStart];
  const row = (number: number, sign: string, spans: Span[]): Line => {
    const gutter = `${" ".repeat(MARGIN)}${String(number).padStart(digits)} `;
    const style = { "-": REMOVED, "+": ADDED }[sign];
    return {
      spans: [{ text: text(gutter), style: { dim: true } }, { text: text(`${sign} `), style }, ...spans],
      wrap: "terminal",
    };
  };
  for (let at = 0; at < lines.length;) {
    const removed = run(lines, at, "-");
    const added = run(lines, at + removed.length, "+");
    if (removed.length + added.length === 0) {
      const line = lines[at++]!;
      // "\ No newline at end of file" is no line of the file.
      if (line.startsWith("\\")) continue;
      yield row(newLine++, " ", spansOf(line.slice(1)));
      oldLine++;
      continue;
    }
    at += removed.length + added.length;
    const sides = compared(removed, added);
    for (const spans of sides.removed) yield row(oldLine++, "-", spans);
    for (const spans of sides.added) yield row(newLine++, "+", spans);
  }
}

/** The lines from here on that have this sign, without it. */
function run(lines: string[], start: number, sign: string): string[] {
  const found: string[] = [];
  for (let at = start; at < lines.length; at++) {
    const line = lines[at]!;
    if (!line.startsWith(sign)) break;
    found.push(line.slice(1));
  }
  return found;
}

/** Lines are compared with their counterparts only where it is clear which these are. */
function compared(removed: string[], added: string[]): { removed: Span[][]; added: Span[][] } {
  if (removed.length !== added.length || removed.length > MAX_WORD_RUN)
    return {
      removed: removed.map((line) => spansOf(line, REMOVED)),
      added: added.map((line) => spansOf(line, ADDED)),
    };
  const pairs = removed.map((line, index) => changed(line, added[index]!));
  return { removed: pairs.map((pair) => pair.removed), added: pairs.map((pair) => pair.added) };
}

function changed(before: string, after: string): { removed: Span[]; added: Span[] } {
  const whole = { removed: spansOf(before, REMOVED), added: spansOf(after, ADDED) };
  if (before.length > MAX_WORD_LINE || after.length > MAX_WORD_LINE) return whole;
  const words = diffWordsWithSpace(before, after);
  const equal = words.filter((word) => !word.added && !word.removed).map((word) => word.value.trim().length);
  const share = equal.reduce((sum, length) => sum + length, 0) / Math.max(before.trim().length, after.trim().length, 1);
  if (share < MIN_EQUAL_SHARE) return whole;
  return {
    removed: words.filter((word) => !word.added).flatMap((word) => spansOf(word.value, marked(REMOVED, word.removed))),
    added: words.filter((word) => !word.removed).flatMap((word) => spansOf(word.value, marked(ADDED, word.added))),
  };
}

const marked = (style: Style, isChanged: boolean): Style => (isChanged ? { ...style, inverse: true } : style);

const spansOf = (line: string, style?: Style): Span[] => {
  const safe = text(line.replace(/\r$/, ""));
  return safe === "" ? [] : [style ? { text: safe, style } : { text: safe }];
};
