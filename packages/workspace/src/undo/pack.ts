import { randomBytes } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

/** Where bytes are that were put aside. */
export interface Kept {
  pack: string;
  offset: number;
}

/**
 * Contents of files, put aside in one file after the other. Each process has a pack of its own and adds to no other, so that nobody is in
 * anybody's way. Nothing is synced: what is lost with the power is found to be lost.
 */
export class Packs {
  readonly #folder: string;
  readonly #own = `${randomBytes(9).toString("base64url")}.pack`;
  #handle: Promise<FileHandle> | undefined;
  #end = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Nobody may come in between: one at a time. */
  async put(bytes: Uint8Array): Promise<Kept> {
    const handle = await (this.#handle ??= open(join(this.#folder, this.#own), "wx", 0o600));
    const kept = { pack: this.#own, offset: this.#end };
    this.#end += bytes.length;
    for (let at = 0; at < bytes.length;) {
      at += (await handle.write(bytes, at, bytes.length - at, kept.offset + at)).bytesWritten;
    }
    return kept;
  }

  /** `undefined` if they are not there any more. */
  async get({ pack, offset }: Kept, size: number): Promise<Uint8Array | undefined> {
    try {
      await using handle = await open(join(this.#folder, pack), "r");
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
    await (await handle?.catch(() => undefined))?.close();
  }
}
