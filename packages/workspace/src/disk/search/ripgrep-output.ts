import { isAscii } from "node:buffer";
import type { GrepMatch } from "../../backend.ts";
import { isUsableName, joinPaths } from "../../paths.ts";
import { lineText, MAX_LINE_BYTES, shownLine, wholeLines } from "../../search/lines.ts";

/** Room for a path, the number of a line and where it begins. */
const PREFIX_BYTES = 8_192;

/** What a record says behind the path: `line:offset:bytes`, or how many lines fit. */
export type OutputKind = "lines" | "counts";

/** What ripgrep printed of one file, together. */
export interface PrintedFile {
  folder: string;
  path: string;
  /** Its name may be the end of another one, or no text, so that there may be no such file. */
  isDoubtful: boolean;
  /** Where it is in what was printed. */
  records: Span;
  /** Which of the matches are its own. */
  matches: Span;
}

interface Span {
  from: number;
  to: number;
}

/** What ripgrep printed of several files. */
export interface Printed {
  bytes: Buffer;
  files: PrintedFile[];
  matches: GrepMatch[];
}

/**
 * Reads `./name NUL …`. A record without NUL is a remark, or the beginning of a name that has a line break in it: what comes after it
 * may only look like a name. Names that no path can have are left out.
 */
export async function* printedFiles(
  printed: AsyncIterable<Buffer>,
  { below, kind }: { below: string; kind: OutputKind },
): AsyncGenerator<Printed> {
  const reader = new Reader(below, kind);
  for await (const records of wholeLines(printed, PREFIX_BYTES + MAX_LINE_BYTES)) yield reader.read(records);
}

class Reader {
  /** "" for the root. */
  readonly #below: string;
  readonly #matchIn: (records: Records, path: string, said: Span) => GrepMatch | null;
  #isBroken = false;
  #folder: { printed: string; path: string | null } = { printed: "", path: null };

  constructor(below: string, kind: OutputKind) {
    this.#below = below === "/" ? "" : below;
    this.#matchIn = kind === "lines" ? lineIn : countIn;
  }

  read(bytes: Buffer): Printed {
    const records = new Records(bytes);
    const { text } = records;
    const files: PrintedFile[] = [];
    const matches: GrepMatch[] = [];
    let [printed, nul] = ["", -1];
    let file: PrintedFile | null = null;
    for (let at = 0; at < text.length;) {
      const end = text.indexOf("\n", at);
      if (nul < at) nul = orNever(text.indexOf("\0", at));
      const isBroken = nul > end;
      // Lines of one file come together.
      if (isBroken || this.#isBroken || nul - at !== printed.length || !text.startsWith(printed, at)) {
        printed = isBroken ? "" : text.slice(at, nul);
        const name = isBroken ? null : this.#nameOf(records.decoded(at, nul));
        const begins = { records: { from: at, to: at }, matches: { from: matches.length, to: matches.length } };
        const isDoubtful = this.#isBroken || (name?.path.includes("\u{fffd}") ?? false);
        file = name && { ...name, isDoubtful, ...begins };
        if (file) files.push(file);
      }
      if (file) {
        const match = this.#matchIn(records, file.path, { from: nul + 1, to: end });
        if (match) matches.push(match);
        file.matches.to = matches.length;
        file.records.to = end + 1;
      }
      this.#isBroken = isBroken;
      at = end + 1;
    }
    return { bytes, files, matches };
  }

  #nameOf(printed: string): { folder: string; path: string } | null {
    const slash = printed.lastIndexOf("/");
    const folder = this.#folderOf(printed.slice(0, slash));
    if (folder === null || !isUsableName(printed.slice(slash + 1))) return null;
    return { folder, path: this.#below + printed.slice(1) };
  }

  /** Many files have the same. `null` if it is none that can be used. */
  #folderOf(printed: string): string | null {
    if (this.#folder.printed === printed) return this.#folder.path;
    const [start, ...names] = printed.split("/");
    const path = start === "." && names.every(isUsableName) ? joinPaths(this.#below || "/", names.join("/")) : null;
    this.#folder = { printed, path };
    return path;
  }
}

const orNever = (index: number): number => (index < 0 ? Infinity : index);

/** Bytes, and the same as a text of as many characters, in which things are found much faster. */
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

/** A line as it was printed: which one it is, where it begins in its file, and where its bytes are. */
function placeIn(text: string, { from, to }: Span): (Span & { line: number; offset: number }) | null {
  const colon = text.indexOf(":", from);
  const second = text.indexOf(":", colon + 1);
  if (colon < 0 || second < 0 || second > to) return null;
  const line = Number(text.slice(from, colon));
  if (!Number.isInteger(line)) return null;
  const end = Math.min(to, second + 1 + MAX_LINE_BYTES);
  // ripgrep ends a last line that has no end, with a return if it was told that there are some.
  const isReturn = end > second + 1 && text.charCodeAt(end - 1) === RETURN;
  return { line, offset: Number(text.slice(colon + 1, second)), from: second + 1, to: isReturn ? end - 1 : end };
}

const RETURN = 13;

export interface PrintedLine {
  line: number;
  /** Where it begins in its file. */
  offset: number;
  bytes: Buffer;
}

/** The lines that were printed of a file, as they were. */
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
