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
/** For files given by name. Whether they are text is checked later. */
const NAMED = ["--text", "--max-depth=0"];
/** For files that ripgrep finds itself. */
const FOUND = ["--hidden", `--glob=!${TEMPORARY}`];

interface Matching {
  query: GrepQuery;
  signal: AbortSignal | undefined;
}

interface FastSearch {
  /** A pattern for names that means the same to ripgrep. */
  names: string | undefined;
  /** Folders to skip: names, or paths with a slash in front. */
  without: readonly string[];
}

/**
 * The matching lines of all files below a folder.
 *
 * ripgrep walks by itself, and another process may put a link on its way. That changes the ctime of a directory, which can't be set back:
 * so matches in directories that are untouched since the start are trusted. All other matches are verified.
 */
export async function* matchesBelow(
  below: Subtree,
  { names, without }: FastSearch,
  { query, signal }: Matching,
): AsyncGenerator<GrepMatch[]> {
  const began = Date.now();
  const only = names === undefined ? [] : [`--type-add=asked:${names}`, "--type=asked"];
  const left = without.map((path) => `--glob=!${path.replaceAll(/[*?[\]{}\\!]/g, "\\$&")}/`);
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
    // A count can't be verified: the lines are searched again instead.
    const again = doubted.map(({ path }) => relativeTo(below.path, path));
    if (query.counts) yield* matchesIn(below, again, { query, signal });
    else yield await witnessed(below, { ...found, files: doubted }, signal);
  }
}

/**
 * The matching lines of these files. ripgrep opens them by name, and another process may have put a link there: so a line is trusted
 * only if the file that we open ourselves has the same bytes at the same offset.
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

/** The lines that these files really have. ripgrep has just read them, so they are cached and are read synchronously. */
async function witnessed(below: Subtree, found: Printed, signal: AbortSignal | undefined): Promise<GrepMatch[]> {
  const folders = Map.groupBy(found.files, ({ folder }) => folder);
  const inFolder = async ([folder, files]: [string, PrintedFile[]]): Promise<GrepMatch[]> => {
    const printed = Map.groupBy(files, ({ path }) => nameOf(path));
    const seen: GrepMatch[] = [];
    await below.each(folder, [...printed.keys()], (name, fd) => {
      const bytesAt = windowOf(fd);
      if (isBinary(bytesAt(0, PROBE_BYTES))) return;
      const path = printed.get(name)![0]!.path;
      for (const { line, offset, bytes } of printed.get(name)!.flatMap((file) => linesOf(file, found)))
        if (bytesAt(offset, bytes.length).equals(bytes)) seen.push({ path, line, text: lineText(bytes) });
    });
    return seen;
  };
  return (await mapConcurrently([...folders], inFolder, signal)).flat();
}

/** Shared, because it is used synchronously and a search may read ten thousand files. */
const window = Buffer.allocUnsafeSlow(32 * 1024);

/** Reads ranges of a file through the shared buffer. A result is valid until the next read. */
function windowOf(fd: number): (offset: number, length: number) => Buffer {
  let [from, held] = [0, 0];
  return (offset, length) => {
    if (offset < from || offset + length > from + held)
      [from, held] = [offset, readSync(fd, window, 0, window.length, offset)];
    return window.subarray(offset - from, Math.min(offset - from + length, held));
  };
}
