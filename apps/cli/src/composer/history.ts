import { appendFileSync, chmodSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { makeParent, PRIVATE_FILE, replacePrivateFile } from "./private-file.ts";

const MAX_ENTRIES = 1_000;
/** A larger text is in the history of this run only. */
const MAX_SAVED_CHARS = 100_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * What was sent or put aside in a project, oldest first. Several processes may add to the file. A file that can't be read or written
 * leaves the history of this run, and the reason in `problem`.
 */
export class PromptHistory {
  readonly #file: string;
  readonly #entries: string[];
  #problem: string | null = null;

  constructor(file: string) {
    this.#file = file;
    this.#entries = this.#load();
  }

  get entries(): readonly string[] {
    return this.#entries;
  }

  /** Why entries are not kept beyond this run. */
  get problem(): string | null {
    return this.#problem;
  }

  add(text: string): void {
    if (text.trim() === "" || text === this.#entries.at(-1)) return;
    this.#entries.push(text);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    if (text.length > MAX_SAVED_CHARS) return;
    this.#attempt(() => {
      makeParent(this.#file);
      appendFileSync(this.#file, recordOf(text), { mode: PRIVATE_FILE });
    });
  }

  #load(): string[] {
    let entries: string[] = [];
    this.#attempt(() => {
      const { contents, bytes } = tailOf(this.#file);
      const records = contents.split("\n").flatMap(textOfRecord);
      entries = records.slice(-MAX_ENTRIES);
      // A crash cut the last record: what is added next must not become a part of it.
      if (contents !== "" && !contents.endsWith("\n")) appendFileSync(this.#file, "\n");
      // What another process adds at this very moment may be lost: a line of history, once in thousands.
      if (bytes > MAX_FILE_BYTES || records.length > 2 * MAX_ENTRIES)
        replacePrivateFile(this.#file, newestRecords(entries).join(""));
    });
    return entries;
  }

  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      this.#problem = `The history is not saved in ${this.#file}: ${(error as Error).message}`;
    }
  }
}

const recordOf = (text: string): string => `${JSON.stringify({ text })}\n`;

/** A line that a crash cut, or another program wrote, is no entry. */
function textOfRecord(line: string): string[] {
  try {
    const record = JSON.parse(line) as { text?: unknown } | null;
    return typeof record?.text === "string" ? [record.text] : [];
  } catch {
    return [];
  }
}

function newestRecords(entries: string[]): string[] {
  const records = entries.map(recordOf);
  let bytes = records.reduce((sum, record) => sum + Buffer.byteLength(record), 0);
  while (bytes > MAX_FILE_BYTES / 2) bytes -= Buffer.byteLength(records.shift()!);
  return records;
}

function tailOf(file: string): { contents: string; bytes: number } {
  const handle = openSync(file, "r");
  try {
    chmodSync(file, PRIVATE_FILE);
    const { size } = fstatSync(handle);
    const start = Math.max(0, size - MAX_FILE_BYTES);
    const buffer = Buffer.alloc(size - start);
    const read = readSync(handle, buffer, 0, buffer.length, start);
    return { contents: buffer.toString("utf8", 0, read), bytes: size };
  } finally {
    closeSync(handle);
  }
}
