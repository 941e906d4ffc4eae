import type { ToolContext } from "@cinch/core";
import type { GrepMatch } from "../../backend.ts";
import { shown } from "../../paths.ts";
import { readContents, type FileToolDeps } from "../file-tool-deps.ts";
import { FirstItems } from "../list/first-items.ts";
import { fitLines, RESULT_CHARS } from "../list/listing.ts";
import { scanLines } from "../read/scan-lines.ts";
import { byPathAndLine, type FileCount, type GrepOutcome } from "./grep-search.ts";

/** How much of a line is shown. */
const SHOWN_CHARS = 500;

interface GrepResults {
  lines: string[];
  /** How many files, or matching lines, these are. */
  shown: number;
}

export function fileResults(
  { files }: GrepOutcome,
  { mode, most }: { mode: "files_with_matches" | "count"; most: number },
): GrepResults {
  const first = new FirstItems<FileCount>(most, byPathAndLine);
  for (const file of files.values()) first.add(file);
  const all = first.sorted().map(({ path, lines }) => (mode === "count" ? `${shown(path)}:${lines}` : shown(path)));
  const lines = fitLines(all, { most });
  return { lines, shown: lines.length };
}

type ShownLine = Pick<GrepMatch, "line" | "text">;

/** `path:line:text` for lines that match, `path-line-text` for the lines around them. */
export async function contentResults(
  deps: FileToolDeps,
  { outcome, around }: { outcome: GrepOutcome; around: number },
  context: ToolContext,
): Promise<GrepResults> {
  const all: { text: string; isMatch: boolean }[] = [];
  let chars = 0;
  for (const [path, matches] of Map.groupBy(outcome.matches, (match) => match.path)) {
    if (chars > RESULT_CHARS) break;
    const hits = new Set(matches.map(({ line }) => line));
    const lines = around === 0 ? matches.map(shownMatch) : await linesAround(deps, { path, hits, around }, context);
    let last = -1;
    for (const { line, text } of lines) {
      const isMatch = hits.has(line);
      const mark = isMatch ? ":" : "-";
      if (around > 0 && all.length > 0 && line !== last + 1) all.push({ text: "--", isMatch: false });
      all.push({ text: `${shown(path)}${mark}${line}${mark}${text}`, isMatch });
      chars += text.length;
      last = line;
    }
  }
  const texts = all.map(({ text }) => text);
  const lines = fitLines(texts, { most: Infinity });
  return { lines, shown: all.slice(0, lines.length).filter(({ isMatch }) => isMatch).length };
}

function shownMatch({ line, text: whole }: GrepMatch): ShownLine {
  // Not by a regular expression: one takes quadratic time for a line full of "\r".
  let end = whole.length;
  while (end > 0 && (whole[end - 1] === "\n" || whole[end - 1] === "\r")) end--;
  return { line, text: shortened(whole.slice(0, end), end) };
}

const shortened = (text: string, chars: number): string =>
  chars <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)} [the line goes on: see it with read_file]`;

async function linesAround(
  deps: FileToolDeps,
  { path, hits, around }: { path: string; hits: ReadonlySet<number>; around: number },
  context: ToolContext,
): Promise<ShownLine[]> {
  const wanted = [...hits].toSorted((a, b) => a - b);
  const last = wanted.at(-1)! + around;
  const lines: ShownLine[] = [];
  let chars = 0;
  let next = 0;
  const isNear = (line: number): boolean => {
    while (next < wanted.length && wanted[next]! + around < line) next++;
    return next < wanted.length && wanted[next]! - around <= line;
  };
  await scanLines(readContents(deps, { path }, context), {
    chars: SHOWN_CHARS,
    wants: (no) => isNear(no + 1),
    take({ no, text, chars: length }) {
      lines.push({ line: no + 1, text: shortened(text, length) });
      chars += text.length + 1;
      return no + 1 < last && chars <= RESULT_CHARS;
    },
  });
  return lines;
}
