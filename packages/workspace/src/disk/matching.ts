import { readSync } from "node:fs";
import type { GrepMatch, GrepQuery } from "../backend.ts";
import { joinPath, nameOf, parentOf } from "../paths.ts";
import { isBinary, PROBE_BYTES } from "../search/contents.ts";
import { cutLines, lineText, MAX_LINE_BYTES } from "../search/lines.ts";
import { ripgrep } from "../search/ripgrep.ts";
import { severalAtOnce } from "./at-once.ts";
import type { Below } from "./below.ts";

/** Room for a path, the number of a line and where it begins. */
const PREFIX_BYTES = 8_192;

const OPTIONS = ["--with-filename", "--null", "--line-number", "--byte-offset", "--no-heading", "--max-depth=0"];

interface Matching {
  query: GrepQuery;
  signal: AbortSignal | undefined;
}

/**
 * The lines in these files that fit. ripgrep opens them by name, and somebody may have put a link there: so what it prints is only
 * believed if the same bytes stand at the same place of the file that we open ourselves.
 */
export async function* matchesIn(
  below: Below,
  names: readonly string[],
  { query, signal }: Matching,
): AsyncGenerator<GrepMatch> {
  const paths = names.map((name) => `./${name}`);
  const printed = ripgrep({ query, paths, options: OPTIONS, cwd: below.start.place, signal });
  for await (const lines of cutLines(printed, PREFIX_BYTES + MAX_LINE_BYTES)) {
    const folders = Map.groupBy(
      lines.map((line) => parse(line, below.path)).filter((match) => match !== null),
      ({ path }) => parentOf(path),
    );
    const seen = await severalAtOnce([...folders], ([path, matches]) => witnessed(below, path, matches), signal);
    for (const matches of seen) yield* matches;
  }
}

interface Printed {
  path: string;
  line: number;
  offset: number;
  bytes: Buffer;
}

/** `./name NUL line:offset:bytes` */
function parse(record: Buffer, below: string): Printed | null {
  const nul = record.indexOf(0);
  const line = record.indexOf(":", nul);
  const offset = record.indexOf(":", line + 1);
  if (nul < 0 || line < 0 || offset < 0) return null;
  return {
    path: joinPath(below, record.toString("utf8", 2, nul)),
    line: Number(record.toString("latin1", nul + 1, line)),
    offset: Number(record.toString("latin1", line + 1, offset)),
    bytes: withoutReturn(record.subarray(offset + 1, offset + 1 + MAX_LINE_BYTES)),
  };
}

/** ripgrep ends a last line that has no end, with a return if it was told that there are some. */
const withoutReturn = (line: Buffer): Buffer => (line.at(-1) === 13 ? line.subarray(0, -1) : line);

/** Those of them that stand in the files of this folder. ripgrep has just read them: they are in memory, and need not be waited for. */
async function witnessed(below: Below, folder: string, matches: readonly Printed[]): Promise<GrepMatch[]> {
  const files = Map.groupBy(matches, ({ path }) => nameOf(path));
  const seen: GrepMatch[] = [];
  await below.each(folder, [...files.keys()], (name, fd) => {
    const text = new Window(fd);
    if (isBinary(text.at(0, PROBE_BYTES))) return;
    for (const { path, line, offset, bytes } of files.get(name)!)
      if (text.at(offset, bytes.length).equals(bytes)) seen.push({ path, line, text: lineText(bytes) });
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
