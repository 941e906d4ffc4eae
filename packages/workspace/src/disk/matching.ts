import type { FileHandle } from "node:fs/promises";
import type { GrepMatch, GrepQuery } from "../backend.ts";
import { joinPath } from "../paths.ts";
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
    const files = Map.groupBy(
      lines.map(parse).filter((match) => match !== null),
      ({ name }) => name,
    );
    const seen = await severalAtOnce([...files], ([name, matches]) => witnessed(below, name, matches), signal);
    for (const matches of seen) yield* matches;
  }
}

interface Printed {
  name: string;
  line: number;
  offset: number;
  bytes: Buffer;
}

/** `./name NUL line:offset:bytes` */
function parse(record: Buffer): Printed | null {
  const nul = record.indexOf(0);
  const line = record.indexOf(":", nul);
  const offset = record.indexOf(":", line + 1);
  if (nul < 0 || line < 0 || offset < 0) return null;
  return {
    name: record.toString("utf8", 2, nul),
    line: Number(record.toString("latin1", nul + 1, line)),
    offset: Number(record.toString("latin1", line + 1, offset)),
    bytes: withoutReturn(record.subarray(offset + 1, offset + 1 + MAX_LINE_BYTES)),
  };
}

/** ripgrep ends a last line that has no end, with a return if it was told that there are some. */
const withoutReturn = (line: Buffer): Buffer => (line.at(-1) === 13 ? line.subarray(0, -1) : line);

/** Those of them that stand in the file. */
async function witnessed(below: Below, name: string, matches: readonly Printed[]): Promise<GrepMatch[]> {
  const path = joinPath(below.path, name);
  await using file = await below.open(path);
  if (!file) return [];
  const text = new Window(file);
  if (isBinary(await text.at(0, PROBE_BYTES))) return [];
  const seen: GrepMatch[] = [];
  for (const { line, offset, bytes } of matches) {
    const here = await text.at(offset, bytes.length);
    if (here.equals(bytes)) seen.push({ path, line, text: lineText(bytes) });
  }
  return seen;
}

const WINDOW_BYTES = 32 * 1024;

/** Reads in a file, mostly close to where it read before. */
class Window {
  readonly #file: FileHandle;
  #bytes: Buffer = Buffer.alloc(0);
  #from = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async at(offset: number, length: number): Promise<Buffer> {
    const isHere = offset >= this.#from && offset + length <= this.#from + this.#bytes.length;
    if (!isHere) {
      const bytes = Buffer.allocUnsafe(Math.max(WINDOW_BYTES, length));
      const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, offset);
      this.#bytes = bytes.subarray(0, bytesRead);
      this.#from = offset;
    }
    return this.#bytes.subarray(offset - this.#from, offset - this.#from + length);
  }
}
