import { yieldIfDue } from "../../contents/pace.ts";
import { similarityTo } from "../lookup/similarity.ts";
import { numbered } from "../read/numbered-line.ts";

/** Beyond this, a search for similar lines would take longer than another read. */
const SEARCHED_CHARS = 500_000;
const COMPARED_CHARS = 300;
const SIMILAR = 0.5;
const SHOWN_LINES = 5;

/** The lines of a text that are most similar to the beginning of the wanted text, numbered; "" if none is. */
export async function nearestLines(text: string, wanted: string): Promise<string> {
  const wantedLines = wanted.split("\n");
  const at = wantedLines.findIndex((line) => line.trim().length > 2);
  if (at < 0) return "";
  const needle = wantedLines[at]!.trim().slice(0, COMPARED_CHARS);
  const lines = text.slice(0, SEARCHED_CHARS).split("\n");
  const similarity = similarityTo(needle);
  let best = { no: -1, score: SIMILAR };
  for (const [no, line] of lines.entries()) {
    const candidate = line.trim().slice(0, COMPARED_CHARS);
    // With such different lengths the score can't reach the limit.
    if (Math.min(candidate.length, needle.length) * 3 < Math.max(candidate.length, needle.length)) continue;
    await yieldIfDue();
    const score = similarity(candidate);
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
