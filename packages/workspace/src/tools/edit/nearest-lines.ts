import { numbered } from "../read/numbered-line.ts";
import { Pace } from "../../pace.ts";
import { Similarity } from "../lookup/similarity.ts";

/** Beyond this, looking for what was meant would take longer than reading again. */
const SEARCHED_CHARS = 500_000;
const COMPARED_CHARS = 300;
const ALIKE = 0.5;
const SHOWN_LINES = 5;

/** The lines of a text that are most like the beginning of what was looked for, numbered; "" if none is. */
export async function nearestLines(text: string, wanted: string): Promise<string> {
  const pace = new Pace();
  const wantedLines = wanted.split("\n");
  const at = wantedLines.findIndex((line) => line.trim().length > 2);
  if (at < 0) return "";
  const needle = wantedLines[at]!.trim().slice(0, COMPARED_CHARS);
  const lines = text.slice(0, SEARCHED_CHARS).split("\n");
  const similarity = new Similarity(needle);
  let best = { no: -1, score: ALIKE };
  for (const [no, line] of lines.entries()) {
    const candidate = line.trim().slice(0, COMPARED_CHARS);
    // Texts of such different lengths can't have enough in common.
    if (Math.min(candidate.length, needle.length) * 3 < Math.max(candidate.length, needle.length)) continue;
    await pace.rest();
    const score = similarity.of(candidate);
    if (score > best.score) best = { no, score };
  }
  if (best.no < 0) return "";
  const first = Math.max(0, best.no - at);
  const count = Math.min(SHOWN_LINES, wantedLines.length);
  return lines
    .slice(first, first + count)
    .map((line, index) => numbered(first + index, line.slice(0, COMPARED_CHARS)))
    .join("\n");
}
