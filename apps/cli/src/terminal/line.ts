import { reveal, visible } from "./sanitise.ts";

declare const safe: unique symbol;
/** Text without control characters, line ends and tabs. Only `text()` makes it. */
export type SafeText = string & { readonly [safe]: true };

/** The terminal's own 16 colours: its user chose them to be readable. */
export const colors = [
  "black",
  "red",
  "green",
  "yellow",
  "blue",
  "magenta",
  "cyan",
  "white",
  "brightBlack",
  "brightRed",
  "brightGreen",
  "brightYellow",
  "brightBlue",
  "brightMagenta",
  "brightCyan",
  "brightWhite",
] as const;
export type Color = (typeof colors)[number];

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

/** `terminal`: the terminal breaks the line, so it copies as one. */
export interface Line {
  spans: Span[];
  wrap?: "words" | "terminal" | "none";
}

/**
 * The only way from a foreign string to a span. Control sequences are removed, line ends and tabs become spaces: a span is a part of one
 * line. With `reveal`, for a command to be approved, nothing is removed: what a reader can't see is shown as a code point, as `<U+202E>`.
 */
export const text = (foreign: string, options?: { reveal: boolean }): SafeText =>
  (options?.reveal ? reveal(foreign) : visible(foreign)) as SafeText;

/** One line of one span. */
export const line = (foreign: string, style?: Style): Line => ({ spans: [{ text: text(foreign), style }] });
