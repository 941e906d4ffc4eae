import { graphemes, graphemeWidth, isAscii } from "./width.ts";

const signs: Record<string, string> = Object.fromEntries(
  "─- │| ├| └` ·. ›> ▸> ✓+ ✗x …~ −- –- —- ↑^ ↓v ←< →> ⠋| ⠙/ ⠹- ⠸\\ ⠼| ⠴/ ⠦- ⠧\\ ⠇| ⠏/ “\" ”\" ‘' ’' •*"
    .split(" ")
    .map((pair) => [pair[0], pair[1]]),
);

/** For a locale without UTF-8: our signs become similar ones, every other character `?`. The columns stay. */
export function toAscii(text: string): string {
  if (isAscii(text)) return text;
  return graphemes(text)
    .map((grapheme) => (isAscii(grapheme) ? grapheme : (signs[grapheme] ?? "?".repeat(graphemeWidth(grapheme)))))
    .join("");
}
