const START = String.raw`(?:^\x{FEFF}?)`;

/** An escape, with the name in its braces; a class begins; it ends; the start of a line. What stands first in a class does not end it. */
const PARTS = /\\[^]\{[^}]*\}|\\[^]|\[\^?\]?|\]|\^/gu;

/** A regular expression in which `^` also matches behind the byte order mark of a file, which is no part of its first line. */
export function withByteOrderMarks(pattern: string): string {
  let classes = 0;
  return pattern.replace(PARTS, (part) => {
    if (part.startsWith("[")) classes++;
    if (part === "]") classes = Math.max(0, classes - 1);
    return part === "^" && classes === 0 ? START : part;
  });
}
