import type { FileHandle } from "node:fs/promises";
import { cleanText } from "./clean-text.ts";
import type { OutputPlace } from "./outputs.ts";
import type { Sink } from "../shells/shell.ts";

/** How much of the beginning and of the end a model sees of output that is too long. The end says how it went. */
export const HEAD_BYTES = 8 * 1024;
export const TAIL_BYTES = 22 * 1024;

/** How to see more of what is in a file. */
export const HOW_TO_READ = "call read_file on it with an offset, or grep with it as path; commands don't see it";

/** What came since a certain byte, for a model. */
export interface Excerpt {
  /** Clean, with a line about what was left out in its place. */
  text: string;
  /** Up to which byte. */
  to: number;
}

/** What a command prints: the beginning and the end at hand, the whole in a file if it is long. Memory does not grow with it. */
export class Output {
  readonly #place: OutputPlace;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #bytes = 0;
  #file: FileHandle | undefined;
  #failure: string | undefined;

  constructor(place: OutputPlace) {
    this.#place = place;
  }

  /** How much came. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Where the whole is, as the file tools know it; `null` if it is at hand, or could not be saved. */
  get path(): string | null {
    return this.#file && this.#failure === undefined ? this.#place.path : null;
  }

  /** For a person or a model: where the whole is, or why it is not. */
  get whereabouts(): string {
    if (this.#failure !== undefined) return `could not be saved: ${this.#failure}`;
    return `is in ${this.#place.path}`;
  }

  /** Has everything saved from the first byte on, however little it is. Never rejects. */
  async save(): Promise<void> {
    try {
      this.#file ??= await this.#place.open();
    } catch (error) {
      this.#failure = reason(error);
    }
  }

  /** For a shell. Never rejects: a full disk must not stop the command, and is told with the text. */
  readonly sink: Sink = async (chunk) => {
    if (this.#file || !this.#fits(chunk.length)) await this.#write(chunk);
    this.#remember(chunk);
  };

  /** Closes the file, which stays. */
  async close(): Promise<void> {
    await this.#file?.close().catch((error: unknown) => (this.#failure ??= reason(error)));
  }

  textForModel(): string {
    return this.since(0).text;
  }

  /** `partial`: more may come, so that a character which is not whole yet is left for the next time. */
  since(from: number, { partial = false } = {}): Excerpt {
    const ring = this.#end();
    const head = this.#start().subarray(from);
    const tail = ring.subarray(Math.max(0, from - (this.#bytes - ring.length)));
    const held = partial ? heldBack(tail.length > 0 ? tail : head) : 0;
    const to = this.#bytes - held;
    const left = this.#bytes - from - head.length - tail.length;
    if (left <= 0)
      return {
        text: cleanText(
          Buffer.concat([head, tail])
            .subarray(0, to - from)
            .toString(),
        ),
        to,
      };
    const first = head.subarray(0, endOfLine(head) ?? endOfCharacter(head));
    const last = tail.subarray(startOfLine(tail) ?? startOfCharacter(tail), tail.length - held);
    const gap = to - from - first.length - last.length;
    const note = `[${gap} bytes left out here; the whole output, ${this.#bytes} bytes, ${this.whereabouts}${this.path ? `: ${HOW_TO_READ}` : ""}]`;
    const parts = [cleanText(first.toString()), note, cleanText(last.toString())];
    return { text: parts.slice(first.length > 0 ? 0 : 1).join("\n"), to };
  }

  #fits(more: number): boolean {
    return this.#bytes + more <= HEAD_BYTES + TAIL_BYTES;
  }

  /** The first time, with everything that came before. */
  async #write(chunk: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      if (!this.#file) {
        this.#file = await this.#place.open();
        await this.#file.writeFile(Buffer.concat([this.#start(), this.#end()]));
      }
      await this.#file.writeFile(chunk);
    } catch (error) {
      this.#failure = reason(error);
    }
  }

  #remember(chunk: Uint8Array): void {
    const room = Math.max(0, HEAD_BYTES - this.#bytes);
    this.#head.set(chunk.subarray(0, room), Math.min(this.#bytes, HEAD_BYTES));
    // A ring: of what does not fit, only the newest is written.
    const rest = chunk.subarray(room);
    const skipped = Math.max(0, rest.length - TAIL_BYTES);
    const at = (Math.max(0, this.#bytes + room - HEAD_BYTES) + skipped) % TAIL_BYTES;
    const newest = rest.subarray(skipped);
    const untilEnd = newest.subarray(0, TAIL_BYTES - at);
    this.#tail.set(untilEnd, at);
    this.#tail.set(newest.subarray(untilEnd.length), 0);
    this.#bytes += chunk.length;
  }

  #start(): Buffer {
    return this.#head.subarray(0, Math.min(this.#bytes, HEAD_BYTES));
  }

  /** What came after the beginning, as far as it was kept. */
  #end(): Buffer {
    const came = Math.max(0, this.#bytes - HEAD_BYTES);
    if (came <= TAIL_BYTES) return this.#tail.subarray(0, came);
    const at = came % TAIL_BYTES;
    return Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
  }
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A cut is made between lines, unless there is none nearby. */
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

/** In UTF-8 the bytes that go on with a character are 10xxxxxx; a character has at most three of them. */
const goesOn = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function startOfCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && goesOn(bytes[at])) at += 1;
  return at;
}

/** How many bytes at the end are the beginning of a character. */
const heldBack = (bytes: Buffer): number => bytes.length - endOfCharacter(bytes);

/** Where the last whole character ends. */
function endOfCharacter(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && goesOn(bytes[start])) start -= 1;
  // The first byte begins with as many ones as the character has bytes.
  const length = Math.clz32(~((bytes[start] ?? 0) << 24));
  return start + length > bytes.length ? start : bytes.length;
}
