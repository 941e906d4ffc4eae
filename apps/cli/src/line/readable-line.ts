import { toAscii } from "../terminal/ascii.ts";
import type { Line, Span } from "../terminal/line.ts";
import { signs } from "../views/signs.ts";

/** A sign says little to a screen reader, and braille has none. By identity: what others wrote is never replaced. */
const WORDS: ReadonlyMap<Span, string> = new Map<Span, string>([
  [signs.done, "done"],
  [signs.failed, "failed"],
  [signs.asks, "asks"],
  [signs.unknown, "unknown"],
  [signs.pending, ""],
  [signs.folded, ""],
]);

/** A line without its styles. Spans are sanitised, so it has no control character. */
export function readableLine({ spans }: Line, { unicode }: { unicode: boolean }): string {
  let plain = "";
  let isAfterNothing = false;
  for (const span of spans) {
    const shown: string = WORDS.get(span) ?? span.text;
    // The space that separates a sign from its text.
    plain += isAfterNothing ? shown.replace(/^ /, "") : shown;
    isAfterNothing = shown === "" && WORDS.has(span);
  }
  return (unicode ? plain : toAscii(plain)).trimEnd();
}
