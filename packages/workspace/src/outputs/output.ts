import type { FileHandle } from "node:fs/promises";
import { errorMessage } from "../thrown-error.ts";
import type { Sink } from "../shells/shell.ts";
import { cleanText } from "./clean-text.ts";
import type { OutputFile } from "./outputs.ts";

/** How much of the beginning and of the end the model sees of long output. The end gets more, because it has the result. */
export const HEAD_BYTES = 8 * 1024;
export const TAIL_BYTES = 22 * 1024;

/** How the model can see the rest of an output file. */
export const HOW_TO_READ = "call read_file on it with an offset, or grep with it as path; commands don't see it";

/** Output from a certain byte on, for the model. */
export interface Excerpt {
  /** Clean, with a note in the place of what was left out. */
  text: string;
  /** The byte at which it ends. */
  to: number;
}

/** What a command prints: the beginning and the end in memory, all of it in a file if it is long. Memory does not grow with it. */
export class Output {
  readonly #place: OutputFile;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  /** The newest bytes, the last one at its end. */
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #bytes = 0;
  #file: FileHandle | undefined;
  #failure: string | undefined;

  constructor(place: OutputFile) {
    this.#place = place;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The path of the whole output for file tools; `null` if it is all in memory, or could not be saved. */
  get path(): string | null {
    return this.#file && this.#failure === undefined ? this.#place.path : null;
  }

  /** Continues "the whole output …": where it is, or why it is nowhere. */
  get location(): string {
    if (this.#failure !== undefined) return `could not be saved: ${this.#failure}`;
    return `is in ${this.#place.path}`;
  }

  /** Saves everything from the first byte on, even if it is short. Never rejects. */
  save(): Promise<void> {
    return this.#try(() => this.#open());
  }

  /** For a shell. Never rejects: a full disk does not stop the command. The text for the model says that it is full. */
  readonly sink: Sink = async (chunk) => {
    const fits = this.#bytes + chunk.length <= HEAD_BYTES + TAIL_BYTES;
    if (this.#file || !fits) await this.#try(async () => (this.#file ?? (await this.#open())).writeFile(chunk));
    this.#remember(chunk);
  };

  /** Closes the file, which stays. */
  async close(): Promise<void> {
    await this.#file?.close().catch((error: unknown) => (this.#failure ??= errorMessage(error)));
  }

  textForModel(): string {
    return this.since(0).text;
  }

  /** `partial`: more may come, so an incomplete character at the end is left for the next time. */
  since(from: number, { partial = false } = {}): Excerpt {
    const end = this.#end();
    const head = this.#start().subarray(from);
    const tail = end.subarray(Math.max(0, from - (this.#bytes - end.length)));
    const last = tail.length > 0 ? tail : head;
    const held = partial ? last.length - endOfCharacter(last) : 0;
    const to = this.#bytes - held;
    if (head.length + tail.length >= this.#bytes - from) {
      const all = Buffer.concat([head, tail]).subarray(0, to - from);
      return { text: cleanText(all.toString()), to };
    }
    const before = head.subarray(0, endOfLine(head) ?? endOfCharacter(head));
    const after = tail.subarray(startOfLine(tail) ?? startOfCharacter(tail), tail.length - held);
    const gap = to - from - before.length - after.length;
    const note = `[${gap} bytes left out here; the whole output, ${this.#bytes} bytes, ${this.location}${this.path ? `: ${HOW_TO_READ}` : ""}]`;
    const parts = [cleanText(before.toString()), note, cleanText(after.toString())];
    return { text: parts.slice(before.length > 0 ? 0 : 1).join("\n"), to };
  }

  /** After a failure nothing more is written. */
  async #try(work: () => Promise<unknown>): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      await work();
    } catch (error) {
      this.#failure = errorMessage(error);
    }
  }

  /** Creates the file, with everything that came before. */
  async #open(): Promise<FileHandle> {
    this.#file = await this.#place.open();
    await this.#file.writeFile(Buffer.concat([this.#start(), this.#end()]));
    return this.#file;
  }

  #remember(chunk: Uint8Array): void {
    const room = Math.max(0, HEAD_BYTES - this.#bytes);
    this.#head.set(chunk.subarray(0, room), Math.min(this.#bytes, HEAD_BYTES));
    const newest = chunk.subarray(Math.max(room, chunk.length - TAIL_BYTES));
    this.#tail.copyWithin(0, newest.length);
    this.#tail.set(newest, TAIL_BYTES - newest.length);
    this.#bytes += chunk.length;
  }

  #start(): Buffer {
    return this.#head.subarray(0, Math.min(this.#bytes, HEAD_BYTES));
  }

  /** What came after the start, as far as it is in memory. */
  #end(): Buffer {
    const came = Math.max(0, this.#bytes - HEAD_BYTES);
    return this.#tail.subarray(TAIL_BYTES - Math.min(came, TAIL_BYTES));
  }
}

/** Output is cut between lines, unless no line ends within this many bytes. */
const NEARBY = 2 * 1024;
const LINE_FEED = 10;

function endOfLine(bytes: Buffer): number | undefined {
  const at = bytes.lastIndexOf(LINE_FEED);
  return at >= bytes.length - NEARBY && at >= 0 ? at : undefined;
}

function startOfLine(bytes: Buffer): number | undefined {
  const at = bytes.indexOf(LINE_FEED);
  return at >= 0 && at < NEARBY ? at + 1 : undefined;
}

/** In UTF-8 the bytes that continue a character are 10xxxxxx; a character has at most three of them. */
const continues = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function startOfCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && continues(bytes[at])) at += 1;
  return at;
}

/** Where the last complete character ends. */
function endOfCharacter(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && continues(bytes[start])) start -= 1;
  // The first byte begins with as many ones as the character has bytes.
  const length = Math.clz32(~((bytes[start] ?? 0) << 24));
  return start + length > bytes.length ? start : bytes.length;
}
