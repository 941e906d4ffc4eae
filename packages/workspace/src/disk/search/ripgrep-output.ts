import { isAscii } from "node:buffer";
import type { GrepMatch } from "../../backend.ts";
import { isUsableName, joinPaths } from "../../paths.ts";
import { lineText, MAX_LINE_BYTES, shownLine, wholeLines } from "../../search/lines.ts";

/** Room for a path, a line number and an offset. */
const PREFIX_BYTES = 8_192;

/** What follows the path in a record: `line:offset:bytes`, or the number of matching lines. */
type OutputKind = "lines" | "counts";

/** Adjacent records of one file. */
export interface PrintedFile {
  folder: string;
  path: string;
  /** The name may be the end of another name, or not UTF-8, so there may be no such file. */
  isDoubtful: boolean;
  /** Where its records are in the output. */
  records: Span;
  /** Which of the matches are in it. */
  matches: Span;
}

interface Span {
  from: number;
  to: number;
}

export interface Printed {
  bytes: Buffer;
  files: PrintedFile[];
  matches: GrepMatch[];
}

/**
 * Parses `./name NUL …`. A record without NUL is a remark, or the beginning of a name with a line break in it: the next record may only
 * look like a name. Files with unusable names are omitted.
 */
export async function* printedFiles(
  printed: AsyncIterable<Buffer>,
  { below, kind }: { below: string; kind: OutputKind },
): AsyncGenerator<Printed> {
  const read = recordReader(below === "/" ? "" : below, kind === "lines" ? lineIn : countIn);
  for await (const records of wholeLines(printed, PREFIX_BYTES + MAX_LINE_BYTES)) yield read(new Records(records));
}

/** `below`: "" for the root. */
function recordReader(below: string, matchIn: typeof lineIn): (records: Records) => Printed {
  const nameOf = namesBelow(below);
  let wasBroken = false;
  return (records) => {
    const { bytes, text } = records;
    const files: PrintedFile[] = [];
    const matches: GrepMatch[] = [];
    let [printed, nul] = ["", -1];
    let file: PrintedFile | null = null;
    for (let at = 0; at < text.length;) {
      const end = text.indexOf("\n", at);
      if (nul < at) nul = orNever(text.indexOf("\0", at));
      const isBroken = nul > end;
      // Lines of one file are adjacent.
      if (isBroken || wasBroken || nul - at !== printed.length || !text.startsWith(printed, at)) {
        printed = isBroken ? "" : text.slice(at, nul);
        const name = isBroken ? null : nameOf(records.decoded(at, nul));
        const begins = { records: { from: at, to: at }, matches: { from: matches.length, to: matches.length } };
        const isDoubtful = wasBroken || (name?.path.includes("\u{fffd}") ?? false);
        file = name && { ...name, isDoubtful, ...begins };
        if (file) files.push(file);
      }
      if (file) {
        const match = matchIn(records, file.path, { from: nul + 1, to: end });
        if (match) matches.push(match);
        file.matches.to = matches.length;
        file.records.to = end + 1;
      }
      wasBroken = isBroken;
      at = end + 1;
    }
    return { bytes, files, matches };
  };
}

/** Returns `null` for an unusable name. The last folder is cached, because many files share it. */
function namesBelow(below: string): (printed: string) => { folder: string; path: string } | null {
  let last: { printed: string; folder: string | null } = { printed: "", folder: null };
  return (printed) => {
    const slash = printed.lastIndexOf("/");
    if (last.printed !== printed.slice(0, slash)) {
      const [start, ...names] = printed.slice(0, slash).split("/");
      const isUsable = start === "." && names.every(isUsableName);
      last = { printed: printed.slice(0, slash), folder: isUsable ? joinPaths(below || "/", names.join("/")) : null };
    }
    const { folder } = last;
    if (folder === null || !isUsableName(printed.slice(slash + 1))) return null;
    return { folder, path: below + printed.slice(1) };
  };
}

const orNever = (index: number): number => (index < 0 ? Infinity : index);

/** Bytes, and the same as a Latin-1 string, which is much faster to search. */
class Records {
  readonly bytes: Buffer;
  readonly text: string;
  readonly #isAscii: boolean;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.text = bytes.toString("latin1");
    this.#isAscii = isAscii(bytes);
  }

  decoded(from: number, to: number): string {
    return this.#isAscii ? this.text.slice(from, to) : this.bytes.toString("utf8", from, to);
  }

  line({ from, to }: Span): string {
    return this.#isAscii ? shownLine(this.text.slice(from, to)) : lineText(this.bytes.subarray(from, to));
  }
}

function countIn({ text }: Records, path: string, { from, to }: Span): GrepMatch | null {
  const count = Number(text.slice(from, to));
  return Number.isInteger(count) ? { path, line: 0, text: "", count } : null;
}

function lineIn(records: Records, path: string, said: Span): GrepMatch | null {
  const place = placeIn(records.text, said);
  return place && { path, line: place.line, text: records.line(place) };
}

/** The line number, the offset in the file, and where the bytes of the line are in the output. */
function placeIn(text: string, { from, to }: Span): (Span & { line: number; offset: number }) | null {
  const colon = text.indexOf(":", from);
  const second = text.indexOf(":", colon + 1);
  if (colon < 0 || second < 0 || second > to) return null;
  const line = Number(text.slice(from, colon));
  if (!Number.isInteger(line)) return null;
  const end = Math.min(to, second + 1 + MAX_LINE_BYTES);
  // With --crlf, ripgrep appends "\r" to a last line without a line break.
  const isReturn = end > second + 1 && text.charCodeAt(end - 1) === RETURN;
  return { line, offset: Number(text.slice(colon + 1, second)), from: second + 1, to: isReturn ? end - 1 : end };
}

const RETURN = 13;

interface PrintedLine {
  line: number;
  /** Of its first byte in the file. */
  offset: number;
  bytes: Buffer;
}

export function linesOf({ records }: PrintedFile, { bytes }: Printed): PrintedLine[] {
  const text = bytes.toString("latin1", records.from, records.to);
  const lines: PrintedLine[] = [];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at);
    const place = placeIn(text, { from: text.indexOf("\0", at) + 1, to: end });
    const own = place && bytes.subarray(records.from + place.from, records.from + place.to);
    if (own) lines.push({ line: place.line, offset: place.offset, bytes: own });
    at = end + 1;
  }
  return lines;
}
