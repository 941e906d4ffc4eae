import { readSync } from "node:fs";
import type { GrepMatch, GrepQuery } from "../backend.ts";
import { isUsableName, joinPath, joinPaths, nameOf, relativeTo } from "../paths.ts";
import { isBinary, PROBE_BYTES } from "../search/contents.ts";
import { cutLines, lineText, MAX_LINE_BYTES } from "../search/lines.ts";
import { ripgrep } from "../search/ripgrep.ts";
import { severalAtOnce } from "./at-once.ts";
import type { Below } from "./below.ts";
import { TEMPORARY } from "./temporary.ts";

/** Room for a path, the number of a line and where it begins. */
const PREFIX_BYTES = 8_192;

const OPTIONS = ["--with-filename", "--null", "--line-number", "--byte-offset", "--no-heading"];
const COUNTS = ["--with-filename", "--null", "--count"];
/** Files that are named: whatever they are called, and whatever they hold, which is looked at later. */
const NAMED = ["--text", "--max-depth=0"];
/** Files that ripgrep finds by itself. */
const FOUND = ["--hidden", "--glob=!.git/", "--glob=!node_modules/", `--glob=!${TEMPORARY}`];

interface Matching {
  query: GrepQuery;
  signal: AbortSignal | undefined;
}

export interface Quick {
  /** A pattern for names that ripgrep reads as we do. */
  names: string | undefined;
  /** Folders below that need not be searched, as paths relative to it. */
  without: readonly string[];
}

/**
 * The lines that fit in all files below a folder.
 *
 * ripgrep walks by itself, and somebody may put a link in its way. That changes the directory in which the link is, and the time of that
 * can't be turned back: so what was found in directories that nobody has touched since we began is believed. Anything else is looked up.
 */
export async function* matchesBelow(
  below: Below,
  { names, without }: Quick,
  { query, signal }: Matching,
): AsyncGenerator<GrepMatch[]> {
  const began = Date.now();
  const only = names === undefined ? [] : [`--type-add=asked:${names}`, "--type=asked"];
  const left = without.map((path) => `--glob=!/${path.replaceAll(/[*?[\]{}\\!]/g, "\\$&")}/`);
  const options = [...(query.counts ? COUNTS : OPTIONS), ...FOUND, ...only, ...left];
  const printed = ripgrep({ query, paths: ["./"], options, cwd: below.start.place, signal });
  const untouched = () => below.untouchedSince(began);
  if (query.counts) yield* believedCounts(below, printed, { query, signal, untouched });
  else yield* believed(below, printed, { signal, untouched });
}

/** A number can't be looked up: where it is not believed, the lines themselves are. */
async function* believedCounts(
  below: Below,
  printed: AsyncIterable<Buffer>,
  { query, signal, untouched }: Believing & Matching,
): AsyncGenerator<GrepMatch[]> {
  const reader = new Reader(below.path);
  for await (const records of cutLines(printed, PREFIX_BYTES)) {
    const isUntouched = untouched();
    const counts: GrepMatch[] = [];
    const doubtful: string[] = [];
    for (const [folder, files] of reader.filesIn(records)) {
      const isBelieved = isUntouched(folder);
      for (const { path, records: told, nul, isDoubtful } of files) {
        if (!isBelieved || isDoubtful) doubtful.push(relativeTo(below.path, path));
        else counts.push({ path, line: 0, text: "", count: Number(told[0]!.toString("latin1", nul + 1)) });
      }
    }
    yield counts.filter(({ count }) => Number.isInteger(count));
    if (doubtful.length > 0) yield* matchesIn(below, doubtful, { query, signal });
  }
}

/**
 * The lines in these files that fit. ripgrep opens them by name, and somebody may have put a link there: so what it prints is only
 * believed if the same bytes stand at the same place of the file that we open ourselves.
 */
export async function* matchesIn(
  below: Below,
  names: readonly string[],
  { query, signal }: Matching,
): AsyncGenerator<GrepMatch[]> {
  const paths = names.map((name) => `./${name}`);
  const options = [...OPTIONS, ...NAMED];
  const printed = ripgrep({ query, paths, options, cwd: below.start.place, signal });
  yield* believed(below, printed, { signal, untouched: () => () => false });
}

interface Believing {
  signal: AbortSignal | undefined;
  /** Gives what tells whether a folder is what it was, as of now. */
  untouched(): (folder: string) => boolean;
}

async function* believed(
  below: Below,
  printed: AsyncIterable<Buffer>,
  { signal, untouched }: Believing,
): AsyncGenerator<GrepMatch[]> {
  const reader = new Reader(below.path);
  for await (const lines of cutLines(printed, PREFIX_BYTES + MAX_LINE_BYTES)) {
    const isUntouched = untouched();
    const seen = await severalAtOnce(
      [...reader.filesIn(lines)],
      async ([path, files]) => {
        const [doubtful, plain] = [files.filter(isDoubted), files.filter((file) => !isDoubted(file))];
        if (!isUntouched(path)) return witnessed(below, path, files);
        return [...plain.flatMap(matchesOf), ...(doubtful.length > 0 ? await witnessed(below, path, doubtful) : [])];
      },
      signal,
    );
    yield seen.flat();
  }
}

/** What ripgrep printed of one file. */
interface PrintedFile {
  path: string;
  records: Buffer[];
  /** Where the path ends in each of them. */
  nul: number;
  /** Its name may be the end of another one. */
  isDoubtful: boolean;
}

const isDoubted = ({ isDoubtful }: PrintedFile): boolean => isDoubtful;

/**
 * Reads `./name NUL line:offset:bytes`. A record without NUL is a remark, or the beginning of a name that has a line break in it: what
 * comes after it may only look like a name. There are names that nobody can use, and these are left out.
 */
class Reader {
  readonly #below: string;
  #isBroken = false;
  #folder: { printed: string; path: string | null } | undefined;
  #last: { record: Buffer; nul: number; file: PrintedFile | null } | undefined;

  constructor(below: string) {
    this.#below = below;
  }

  /** By folder. */
  filesIn(records: readonly Buffer[]): Map<string, PrintedFile[]> {
    const folders = new Map<string, PrintedFile[]>();
    // What came before was given away.
    this.#last = undefined;
    for (const record of records) {
      const nul = record.indexOf(0);
      if (nul >= 0) this.#fileOf(record, nul, folders)?.records.push(record);
      this.#isBroken = nul < 0;
    }
    return folders;
  }

  #fileOf(record: Buffer, nul: number, folders: Map<string, PrintedFile[]>): PrintedFile | null {
    const last = this.#last;
    // Lines of one file come together.
    if (!this.#isBroken && last?.nul === nul && record.compare(last.record, 0, nul, 0, nul) === 0) return last.file;
    const printed = record.toString("utf8", 0, nul);
    const slash = printed.lastIndexOf("/");
    const [folder, name] = [this.#folderOf(printed.slice(0, slash)), printed.slice(slash + 1)];
    const isName = folder !== null && isUsableName(name);
    const file = isName ? { path: joinPath(folder, name), records: [], nul, isDoubtful: this.#isBroken } : null;
    this.#last = this.#isBroken ? undefined : { record, nul, file };
    if (isName && file) {
      const others = folders.get(folder);
      if (others) others.push(file);
      else folders.set(folder, [file]);
    }
    return file;
  }

  /** Many files have the same. `null` if it is none that can be used. */
  #folderOf(printed: string): string | null {
    if (this.#folder?.printed === printed) return this.#folder.path;
    const [start, ...names] = printed.split("/");
    const path = start === "." && names.every(isUsableName) ? joinPaths(this.#below, names.join("/")) : null;
    this.#folder = { printed, path };
    return path;
  }
}

interface Printed {
  line: number;
  offset: number;
  bytes: Buffer;
}

function parse(record: Buffer, nul: number): Printed | null {
  const line = record.indexOf(58, nul);
  const offset = record.indexOf(58, line + 1);
  if (line < 0 || offset < 0) return null;
  const number = Number(record.toString("latin1", nul + 1, line));
  if (!Number.isInteger(number)) return null;
  return {
    line: number,
    offset: Number(record.toString("latin1", line + 1, offset)),
    bytes: withoutReturn(record.subarray(offset + 1, offset + 1 + MAX_LINE_BYTES)),
  };
}

const printedIn = ({ records, nul }: PrintedFile): Printed[] =>
  records.map((record) => parse(record, nul)).filter((one) => one !== null);

const matchesOf = (file: PrintedFile): GrepMatch[] =>
  printedIn(file).map(({ line, bytes }) => ({ path: file.path, line, text: lineText(bytes) }));

/** ripgrep ends a last line that has no end, with a return if it was told that there are some. */
const withoutReturn = (line: Buffer): Buffer => (line.at(-1) === 13 ? line.subarray(0, -1) : line);

/** Those of them that stand in the files of this folder. ripgrep has just read them: they are in memory, and need not be waited for. */
async function witnessed(below: Below, folder: string, files: readonly PrintedFile[]): Promise<GrepMatch[]> {
  const printed = Map.groupBy(files, ({ path }) => nameOf(path));
  const seen: GrepMatch[] = [];
  await below.each(folder, [...printed.keys()], (name, fd) => {
    const text = new Window(fd);
    if (isBinary(text.at(0, PROBE_BYTES))) return;
    const [file] = printed.get(name)!;
    for (const { line, offset, bytes } of printed.get(name)!.flatMap(printedIn))
      if (text.at(offset, bytes.length).equals(bytes)) seen.push({ path: file!.path, line, text: lineText(bytes) });
  });
  return seen;
}

/** One for all: nobody waits while using it, and a new one for each of ten thousand files would have to be collected. */
const window = Buffer.allocUnsafeSlow(32 * 1024);

/** Reads in a file, mostly close to where it read before. What it gives is gone when another file is read. */
class Window {
  readonly #fd: number;
  #from = 0;
  #length = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  at(offset: number, length: number): Buffer {
    if (offset < this.#from || offset + length > this.#from + this.#length) {
      this.#length = readSync(this.#fd, window, 0, window.length, offset);
      this.#from = offset;
    }
    return window.subarray(offset - this.#from, Math.min(offset - this.#from + length, this.#length));
  }
}
