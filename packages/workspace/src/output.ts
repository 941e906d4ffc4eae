import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { cleanText } from "./clean.ts";
import type { Sink } from "./shell.ts";

/** How much of the beginning and of the end a model sees of output that is too long. The end says how it went. */
export const HEAD_BYTES = 8 * 1024;
export const TAIL_BYTES = 22 * 1024;

export interface OutputOptions {
  /** Where output goes that does not fit; made, for nobody else to read, when it is needed. */
  directory: string;
  /** What the file there is called. */
  name: string;
}

/** What a command prints: the beginning and the end at hand, the whole in a file if it is long. Memory does not grow with it. */
export class Output {
  readonly #path: string;
  readonly #directory: string;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #bytes = 0;
  #file: FileHandle | undefined;
  #failure: string | undefined;

  constructor({ directory, name }: OutputOptions) {
    this.#directory = directory;
    this.#path = join(directory, name);
  }

  /** How much came. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Where the whole is; `null` if it is at hand, or could not be saved. */
  get path(): string | null {
    return this.#file && this.#failure === undefined ? this.#path : null;
  }

  /** For a shell. Never rejects: a full disk must not stop the command, and is told with the text. */
  readonly sink: Sink = async (chunk) => {
    if (!this.#fits(chunk.length) && this.#failure === undefined) await this.#save(chunk);
    this.#remember(chunk);
  };

  /** Closes the file, which stays. */
  async close(): Promise<void> {
    await this.#file?.close().catch((error: unknown) => (this.#failure ??= reason(error)));
  }

  /** Clean text, with a line about what was left out in its place. */
  textForModel(): string {
    if (this.#fits(0)) return cleanText(Buffer.concat([this.#start(), this.#end()]).toString());
    const head = this.#start();
    const tail = this.#end();
    const first = head.subarray(0, endOfLine(head) ?? endOfCharacter(head));
    const last = tail.subarray(startOfLine(tail) ?? startOfCharacter(tail));
    const left = this.#bytes - first.length - last.length;
    const where = this.path === null ? `could not be saved: ${this.#failure}` : `is in ${this.path}`;
    const note = `[${left} bytes left out here; the whole output, ${this.#bytes} bytes, ${where}]`;
    return `${cleanText(first.toString())}\n${note}\n${cleanText(last.toString())}`;
  }

  #fits(more: number): boolean {
    return this.#bytes + more <= HEAD_BYTES + TAIL_BYTES;
  }

  /** The first time, with everything that came before. */
  async #save(chunk: Uint8Array): Promise<void> {
    try {
      if (!this.#file) {
        await mkdir(this.#directory, { recursive: true, mode: 0o700 });
        const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
        this.#file = await open(this.#path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
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

/** Where the last whole character ends. */
function endOfCharacter(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && goesOn(bytes[start])) start -= 1;
  // The first byte begins with as many ones as the character has bytes.
  const length = Math.clz32(~((bytes[start] ?? 0) << 24));
  return start + length > bytes.length ? start : bytes.length;
}
