import { randomBytes } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

/** Where bytes are that were put aside. */
export interface Kept {
  /** Below the folder of all albums. */
  pack: string;
  offset: number;
}

/**
 * Contents of files, put aside in one file after the other. Each process has a pack of its own and adds to no other, so that nobody is in
 * anybody's way. Nothing is synced: what is lost with the power is found to be lost.
 */
export class Packs {
  readonly #shelf: string;
  readonly #own: string;
  #handle: FileHandle | undefined;
  #end = 0;

  constructor(shelf: string, album: string) {
    this.#shelf = shelf;
    this.#own = `${album}/${randomBytes(9).toString("base64url")}.pack`;
  }

  /** How much this process has put aside. */
  get size(): number {
    return this.#end;
  }

  /** Nobody may come in between: one at a time. */
  async put(bytes: Uint8Array): Promise<Kept> {
    const handle = (this.#handle ??= await open(join(this.#shelf, this.#own), "wx", 0o600));
    const kept = { pack: this.#own, offset: this.#end };
    for (let at = 0; at < bytes.length;) {
      at += (await handle.write(bytes, at, bytes.length - at, kept.offset + at)).bytesWritten;
    }
    this.#end += bytes.length;
    return kept;
  }

  /** `undefined` if they are not there any more. */
  async get({ pack, offset }: Kept, size: number): Promise<Uint8Array | undefined> {
    try {
      await using handle = await open(join(this.#shelf, pack), "r");
      const bytes = new Uint8Array(size);
      for (let at = 0; at < size;) {
        const { bytesRead } = await handle.read(bytes, at, size - at, offset + at);
        if (bytesRead === 0) return undefined;
        at += bytesRead;
      }
      return bytes;
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
