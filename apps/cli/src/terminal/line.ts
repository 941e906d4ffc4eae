import { plain } from "./plain.ts";

declare const safe: unique symbol;
/** Text that has no control characters left. Only `text()` makes it. */
export type SafeText = string & { readonly [safe]: true };

export type Color =
  | "black"
  | "red"
  | "green"
  | "yellow"
  | "blue"
  | "magenta"
  | "cyan"
  | "white"
  | "brightBlack"
  | "brightRed"
  | "brightGreen"
  | "brightYellow"
  | "brightBlue"
  | "brightMagenta"
  | "brightCyan"
  | "brightWhite";

export interface Style {
  color?: Color;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
}

export interface Span {
  text: SafeText;
  style?: Style;
}

export interface Line {
  spans: Span[];
  wrap?: "words" | "terminal" | "none";
}

/** Every character that `plain` might change: the others need no pass over the text. */
const SUSPECT = /[^\u0020-\u007e\u00a0-\u2027\u202f-\u2065\u206a-\uffff]/;

/** Removes control sequences. Line ends and tabs become spaces, because a span is a part of one line. */
export function text(foreign: string): SafeText {
  if (!SUSPECT.test(foreign)) return foreign as SafeText;
  return plain(foreign).replaceAll("\n", " ").replaceAll("\t", "    ") as SafeText;
}
