import { createHash } from "node:crypto";
import type { Blob } from "@cinch/core/store";
import type { FileVersion } from "@cinch/core/workspace";
import { yieldIfDue } from "./pace.ts";
import { bytesIn } from "./long-text.ts";

const PART_BYTES = 4 * 1024 * 1024;
/** How much of the old contents one call saves, so that they can be restored. Of the rest, only hash and size are saved. */
export const MAX_SAVED_BYTES = 64 * 1024 * 1024;

/** The contents of a file, as the journal keeps them. */
export interface SavedContents {
  version: FileVersion;
  /** The bytes, in order. Empty unless they are saved whole. */
  blobs: Blob[];
}

/** Reads to the end. Unless `whole`, only hash and size are computed, in constant memory. */
export async function saveContents(
  chunks: AsyncIterable<Uint8Array>,
  { whole }: { whole: boolean },
): Promise<SavedContents> {
  const hash = createHash("sha256");
  let size = 0;
  const hashed = async function* () {
    for await (const chunk of chunks) {
      size += chunk.length;
      for (const piece of bytesIn(chunk)) {
        hash.update(piece);
        await yieldIfDue();
      }
      yield chunk;
    }
  };
  const blobs: Blob[] = [];
  if (whole) for await (const blob of partsOf(hashed(), PART_BYTES)) blobs.push(blob);
  else for await (const _ of hashed());
  const parts = blobs.map(({ hash: blob, bytes }) => ({ blob, size: bytes.length }));
  return { version: { hash: hash.digest("hex"), size, ...(whole ? { parts } : {}) }, blobs };
}

/** Cuts a stream into parts of a size. Each is a copy, because a backend may reuse the memory of a chunk. */
export async function* partsOf(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Blob> {
  let [open, openBytes]: [Uint8Array[], number] = [[], 0];
  const close = (): Blob => {
    const bytes = new Uint8Array(Buffer.concat(open));
    [open, openBytes] = [[], 0];
    return { hash: sha256(bytes), bytes };
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      // `slice` of a Buffer is no copy.
      const piece = new Uint8Array(chunk.subarray(at, at + size - openBytes));
      open.push(piece);
      openBytes += piece.length;
      at += piece.length;
      if (openBytes === size) yield close();
      await yieldIfDue();
    }
  }
  if (openBytes > 0) yield close();
}

export const withMode = ({ version, blobs }: SavedContents, { mode }: { mode?: number }): SavedContents => ({
  version: mode === undefined ? version : { ...version, mode },
  blobs,
});

export async function sha256InSteps(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of chunksOf(bytes)) hash.update(piece);
  return hash.digest("hex");
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (const piece of bytesIn(bytes)) {
    yield piece;
    await yieldIfDue();
  }
}
