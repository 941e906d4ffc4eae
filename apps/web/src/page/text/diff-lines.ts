/** A row of a unified diff. */
export interface DiffLine {
  kind: "added" | "removed" | "same" | "hunk" | "note";
  text: string;
  /** The line in the file before and after the change. */
  before: number | null;
  after: number | null;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Reads a unified diff in one pass. */
export function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [before, after] = [0, 0];
  let inHunk = false;
  for (const text of diff.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(text);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      inHunk = true;
      lines.push({ kind: "hunk", text, before: null, after: null });
    } else if (!inHunk) continue;
    else if (text.startsWith("+")) lines.push({ kind: "added", text: text.slice(1), before: null, after: after++ });
    else if (text.startsWith("-")) lines.push({ kind: "removed", text: text.slice(1), before: before++, after: null });
    else if (text.startsWith("\\")) lines.push({ kind: "note", text: text.slice(2), before: null, after: null });
    else lines.push({ kind: "same", text: text.slice(1), before: before++, after: after++ });
  }
  return lines;
}

/** How many lines a diff adds and removes. It makes no list of them: a diff may be long, and closed. */
export function countLines(diff: string): { added: number; removed: number } {
  const count = { added: 0, removed: 0 };
  let inHunk = false;
  for (let at = 0; at < diff.length;) {
    const sign = diff[at];
    if (sign === "@") inHunk ||= HUNK.test(diff.slice(at, at + 80));
    else if (inHunk && sign === "+") count.added++;
    else if (inHunk && sign === "-") count.removed++;
    const end = diff.indexOf("\n", at);
    if (end === -1) break;
    at = end + 1;
  }
  return count;
}
