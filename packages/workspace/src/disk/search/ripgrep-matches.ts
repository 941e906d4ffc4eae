import { readSync } from "node:fs";
import type { GrepMatch, GrepQuery } from "../../backend.ts";
import { nameOf, relativeTo } from "../../paths.ts";
import { isBinary, PROBE_BYTES } from "../../search/contents.ts";
import { lineText } from "../../search/lines.ts";
import { ripgrep } from "../../search/ripgrep.ts";
import { mapConcurrently } from "../at-once.ts";
import type { Subtree } from "./subtree.ts";
import { linesOf, printedFiles, type Printed, type PrintedFile } from "./ripgrep-output.ts";
import { TEMPORARY } from "../temporary.ts";

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
  below: Subtree,
  { names, without }: Quick,
  { query, signal }: Matching,
): AsyncGenerator<GrepMatch[]> {
  const began = Date.now();
  const only = names === undefined ? [] : [`--type-add=asked:${names}`, "--type=asked"];
  const left = without.map((path) => `--glob=!/${path.replaceAll(/[*?[\]{}\\!]/g, "\\$&")}/`);
  const kind = query.counts ? "counts" : "lines";
  const options = [...(query.counts ? COUNTS : OPTIONS), ...FOUND, ...only, ...left];
  const printed = ripgrep({ query, paths: ["./"], options, cwd: below.start.place, signal });
  for await (const found of printedFiles(printed, { below: below.path, kind })) {
    const untouched = below.untouched(new Set(found.files.map(({ folder }) => folder)), began);
    const isDoubted = ({ folder, isDoubtful }: PrintedFile) => isDoubtful || !untouched.has(folder);
    const doubted = found.files.filter(isDoubted);
    if (doubted.length === 0) {
      yield found.matches;
      continue;
    }
    const believed = found.files.filter((file) => !isDoubted(file));
    yield believed.flatMap(({ matches }) => found.matches.slice(matches.from, matches.to));
    // A number can't be looked up: where it is not believed, the lines themselves are.
    const again = doubted.map(({ path }) => relativeTo(below.path, path));
    if (query.counts) yield* matchesIn(below, again, { query, signal });
    else yield await witnessed(below, { ...found, files: doubted }, signal);
  }
}

/**
 * The lines in these files that fit. ripgrep opens them by name, and somebody may have put a link there: so what it prints is only
 * believed if the same bytes stand at the same place of the file that we open ourselves.
 */
export async function* matchesIn(
  below: Subtree,
  names: readonly string[],
  { query, signal }: Matching,
): AsyncGenerator<GrepMatch[]> {
  const paths = names.map((name) => `./${name}`);
  const options = [...OPTIONS, ...NAMED];
  const printed = ripgrep({ query, paths, options, cwd: below.start.place, signal });
  for await (const found of printedFiles(printed, { below: below.path, kind: "lines" }))
    yield await witnessed(below, found, signal);
}

/** Those lines that stand in these files. ripgrep has just read them: they are in memory, and need not be waited for. */
async function witnessed(below: Subtree, found: Printed, signal: AbortSignal | undefined): Promise<GrepMatch[]> {
  const folders = Map.groupBy(found.files, ({ folder }) => folder);
  const inFolder = async ([folder, files]: [string, PrintedFile[]]): Promise<GrepMatch[]> => {
    const printed = Map.groupBy(files, ({ path }) => nameOf(path));
    const seen: GrepMatch[] = [];
    await below.each(folder, [...printed.keys()], (name, fd) => {
      const text = new Window(fd);
      if (isBinary(text.at(0, PROBE_BYTES))) return;
      const path = printed.get(name)![0]!.path;
      for (const { line, offset, bytes } of printed.get(name)!.flatMap((file) => linesOf(file, found)))
        if (text.at(offset, bytes.length).equals(bytes)) seen.push({ path, line, text: lineText(bytes) });
    });
    return seen;
  };
  return (await mapConcurrently([...folders], inFolder, signal)).flat();
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
