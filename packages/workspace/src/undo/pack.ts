import { randomBytes } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

/** Where the contents of a file are kept. */
export interface PackedContents {
  /** A path below the folder of the cache. */
  pack: string;
  offset: number;
}

/**
 * Contents of files, one after the other in a single file. Each process writes to its own pack only, so processes don't conflict.
 * Nothing is synced: contents that a power failure destroyed no longer match their hash.
 */
export class Pack {
  readonly generation: string;
  readonly #folder: string;
  readonly #name: string;
  #handle: FileHandle | undefined;
  #end = 0;

  constructor(folder: string, generation: string) {
    this.generation = generation;
    this.#folder = folder;
    this.#name = `${generation}/${randomBytes(9).toString("base64url")}.pack`;
  }

  get size(): number {
    return this.#end;
  }

  /** Calls must not overlap. */
  async put(bytes: Uint8Array): Promise<PackedContents> {
    const handle = (this.#handle ??= await open(join(this.#folder, this.#name), "wx", 0o600));
    const packed = { pack: this.#name, offset: this.#end };
    for (let at = 0; at < bytes.length;) {
      at += (await handle.write(bytes, at, bytes.length - at, packed.offset + at)).bytesWritten;
    }
    this.#end += bytes.length;
    return packed;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** `undefined` if the contents are gone. */
export async function readPacked(
  folder: string,
  { packed, size }: { packed: PackedContents; size: number },
): Promise<Uint8Array | undefined> {
  try {
    await using handle = await open(join(folder, packed.pack), "r");
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size;) {
      const { bytesRead } = await handle.read(bytes, at, size - at, packed.offset + at);
      if (bytesRead === 0) return undefined;
      at += bytesRead;
    }
    return bytes;
  } catch {
    return undefined;
  }
}
