import type { ToolContext } from "@cinch/core";
import type { GrepMatch } from "../../backend.ts";
import { FirstByPath, shortened, SHOWN_CHARS, type FileCount, type GrepOutcome } from "./grep-search.ts";
import { scanLines } from "../read/scan-lines.ts";
import { fitLines, RESULT_CHARS } from "../list/listing.ts";
import { readContents, type FileToolDeps } from "../file-tool-deps.ts";
import { shown } from "../../paths.ts";

export interface GrepResults {
  lines: string[];
  /** How many files, or lines that match, these are. */
  shown: number;
}

export function fileResults(
  { files }: GrepOutcome,
  { mode, most }: { mode: "files_with_matches" | "count"; most: number },
): GrepResults {
  const first = new FirstByPath<FileCount>(most);
  for (const file of files.values()) first.add(file);
  const all = first.sorted().map(({ path, lines }) => (mode === "count" ? `${shown(path)}:${lines}` : shown(path)));
  const lines = fitLines(all, { most });
  return { lines, shown: lines.length };
}

/** `path:line:text` for lines that match, `path-line-text` for those around them. */
export async function contentResults(
  deps: FileToolDeps,
  { search, around }: { search: GrepOutcome; around: number },
  context: ToolContext,
): Promise<GrepResults> {
  const all: { text: string; isMatch: boolean }[] = [];
  let chars = 0;
  for (const [path, matches] of Map.groupBy(search.matches, (match) => match.path)) {
    // More than that is not shown.
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
  const lines = fitLines(
    all.map(({ text }) => text),
    { most: Infinity },
  );
  return { lines, shown: all.slice(0, lines.length).filter(({ isMatch }) => isMatch).length };
}

function shownMatch({ line, text: whole }: GrepMatch): Omit<GrepMatch, "path"> {
  const text = withoutEnd(whole);
  return { line, text: shortened(text, text.length) };
}

function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === "\n" || line[end - 1] === "\r")) end--;
  return line.slice(0, end);
}

async function linesAround(
  deps: FileToolDeps,
  { path, hits, around }: { path: string; hits: ReadonlySet<number>; around: number },
  context: ToolContext,
): Promise<Omit<GrepMatch, "path">[]> {
  const wanted = [...hits].toSorted((a, b) => a - b);
  const last = wanted.at(-1)! + around;
  const lines: Omit<GrepMatch, "path">[] = [];
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
