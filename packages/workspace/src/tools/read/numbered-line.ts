import type { ScannedLine } from "./scan-lines.ts";

/** As `cat -n` prints it. After the tab comes the line as it is. */
export const numbered = (no: number, text: string): string => `${String(no + 1).padStart(6)}\t${text}`;

/** How much of a line is shown among others. */
export const LINE_CHARS = 2_000;

/** A numbered line and, if it was cut, a line without a number that says how to get the rest. */
export function numberedLine({ no, text, chars }: ScannedLine): string {
  const line = numbered(no, text);
  if (text.length === chars) return line;
  const rest = `for the rest call read_file with offset ${no} and char_offset ${text.length}`;
  return `${line}\n      \t[line ${no + 1} goes on: ${text.length} of ${chars} characters are shown; ${rest}]`;
}
