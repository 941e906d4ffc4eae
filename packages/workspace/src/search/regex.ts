import type { GrepMatch, GrepQuery } from "../backend.ts";
import { lineText, MAX_LINE_BYTES, wholeLines } from "./lines.ts";
import { ripgrep } from "./ripgrep.ts";

export interface Source {
  path: string;
  contents: AsyncIterable<Uint8Array>;
}

const PREFIX_BYTES = 24;

const NEWLINE = 10;

/**
 * The lines of many files that match a regular expression. One ripgrep process reads all files from its standard input, one after the
 * other, and the line number tells the file.
 */
export async function* regexMatches(
  sources: AsyncIterable<Source>,
  query: GrepQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<GrepMatch> {
  const begun = new Beginnings();
  const printed = ripgrep({
    query,
    paths: ["-"],
    options: ["--text", "--no-filename", "--line-number"],
    input: concatenated(sources, begun),
    signal,
  });
  for await (const lines of wholeLines(printed, PREFIX_BYTES + MAX_LINE_BYTES)) {
    for (let at = 0; at < lines.length;) {
      const [colon, end] = [lines.indexOf(":", at), lines.indexOf(NEWLINE, at)];
      const file = begun.at(Number(lines.toString("latin1", at, colon)));
      const text = lines.subarray(colon + 1, Math.min(end, colon + 1 + MAX_LINE_BYTES));
      at = end + 1;
      yield { ...file, text: lineText(text) };
    }
  }
}

async function* concatenated(sources: AsyncIterable<Source>, begun: Beginnings): AsyncGenerator<Uint8Array> {
  let line = 1;
  for await (const { path, contents } of sources) {
    let [begins, last] = [true, NEWLINE];
    for await (const chunk of contents) {
      if (chunk.length === 0) continue;
      if (begins) begun.add(path, line);
      begins = false;
      line += newlinesIn(chunk);
      last = chunk.at(-1)!;
      yield chunk;
    }
    if (last === NEWLINE) continue;
    line++;
    yield Uint8Array.of(NEWLINE);
  }
}

function newlinesIn(chunk: Uint8Array): number {
  let count = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** The line of the input at which each file begins. Matches come in order, so earlier files are dropped. */
class Beginnings {
  #files: { path: string; line: number }[] = [];

  add(path: string, line: number): void {
    this.#files.push({ path, line });
  }

  at(line: number): { path: string; line: number } {
    const next = this.#files.findIndex((file) => file.line > line);
    this.#files.splice(0, (next < 0 ? this.#files.length : next) - 1);
    const file = this.#files[0]!;
    return { path: file.path, line: line - file.line + 1 };
  }
}
