import { createHash } from "node:crypto";
import type { Blob, FileVersion } from "@cinch/core";
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
  const blobs: Blob[] = [];
  const parts: { blob: string; size: number }[] = [];
  let size = 0;
  let open: Uint8Array[] = [];
  let openBytes = 0;
  const close = () => {
    const bytes = new Uint8Array(Buffer.concat(open));
    const blob = sha256(bytes);
    blobs.push({ hash: blob, bytes });
    parts.push({ blob, size: bytes.length });
    [open, openBytes] = [[], 0];
  };
  for await (const chunk of chunks) {
    await yieldIfDue();
    for (const piece of bytesIn(chunk)) {
      hash.update(piece);
      await yieldIfDue();
    }
    size += chunk.length;
    if (!whole) continue;
    for (let at = 0; at < chunk.length;) {
      // A copy, because the backend may reuse the memory of the chunk. `slice` of a Buffer is none.
      const piece = new Uint8Array(chunk.subarray(at, at + PART_BYTES - openBytes));
      open.push(piece);
      openBytes += piece.length;
      at += piece.length;
      if (openBytes === PART_BYTES) close();
    }
  }
  if (openBytes > 0) close();
  const version = { hash: hash.digest("hex"), size, ...(whole ? { parts } : {}) };
  return { version, blobs };
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
