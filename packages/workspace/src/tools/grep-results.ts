import type { ToolContext } from "@cinch/core";
import type { GrepMatch } from "../backend.ts";
import { First, shortened, SHOWN_CHARS, type FileCount, type Search } from "./grep-search.ts";
import { scanLines } from "./lines.ts";
import { fitting } from "./listing.ts";
import { contentsOf, type Place } from "./place.ts";
import { shown } from "../paths.ts";

export interface Results {
  lines: string[];
  /** How many files, or lines that match, these are. */
  shown: number;
}

export function fileResults(
  { files }: Search,
  { mode, most }: { mode: "files_with_matches" | "count"; most: number },
): Results {
  const first = new First<FileCount>(most);
  for (const file of files.values()) first.add(file);
  const all = first.sorted().map(({ path, lines }) => (mode === "count" ? `${shown(path)}:${lines}` : shown(path)));
  const lines = fitting(all, { most });
  return { lines, shown: lines.length };
}

/** `path:line:text` for lines that match, `path-line-text` for those around them. */
export async function contentResults(
  place: Place,
  { search, around }: { search: Search; around: number },
  context: ToolContext,
): Promise<Results> {
  const all: { text: string; isMatch: boolean }[] = [];
  for (const [path, matches] of Map.groupBy(search.matches, (match) => match.path)) {
    const hits = new Set(matches.map(({ line }) => line));
    const lines = around === 0 ? matches.map(shownMatch) : await linesAround(place, { path, hits, around }, context);
    let last = -1;
    for (const { line, text } of lines) {
      const isMatch = hits.has(line);
      const mark = isMatch ? ":" : "-";
      if (around > 0 && all.length > 0 && line !== last + 1) all.push({ text: "--", isMatch: false });
      all.push({ text: `${shown(path)}${mark}${line}${mark}${text}`, isMatch });
      last = line;
    }
  }
  const lines = fitting(
    all.map(({ text }) => text),
    { most: Infinity },
  );
  return { lines, shown: all.slice(0, lines.length).filter(({ isMatch }) => isMatch).length };
}

function shownMatch({ line, text: whole }: GrepMatch): Omit<GrepMatch, "path"> {
  const text = whole.replace(/[\r\n]+$/, "");
  return { line, text: shortened(text, text.length) };
}

async function linesAround(
  place: Place,
  { path, hits, around }: { path: string; hits: ReadonlySet<number>; around: number },
  context: ToolContext,
): Promise<Omit<GrepMatch, "path">[]> {
  const near = (line: number): number[] => Array.from({ length: 2 * around + 1 }, (_, at) => line - around + at);
  const wanted = new Set([...hits].flatMap(near));
  const last = Math.max(...hits) + around;
  const lines: Omit<GrepMatch, "path">[] = [];
  await scanLines(contentsOf(place, { path }, context), {
    chars: SHOWN_CHARS,
    wants: (no) => wanted.has(no + 1),
    take({ no, text, chars }) {
      lines.push({ line: no + 1, text: shortened(text, chars) });
      return no + 1 < last;
    },
  });
  return lines;
}
