import { createHash } from "node:crypto";
import type { Blob, FileVersion } from "@cinch/core";
import { Pace } from "../../pace.ts";
import { bytesIn } from "../long-text.ts";

/** How large one piece of a file may be in the store. */
export const PART_BYTES = 4 * 1024 * 1024;
/** How much of what one call replaces or deletes is kept, so that it can be taken back. Of the rest, only hash and size are. */
export const MAX_SAVED_BYTES = 64 * 1024 * 1024;

/** What a file held, in a form in which the journal can keep it. */
export interface SavedContents {
  version: FileVersion;
  /** The bytes, in order. Empty if they are not kept. */
  blobs: Blob[];
}

/** Reads to the end. Only if everything is to be kept it is held in memory. */
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
    const bytes = Buffer.concat(open);
    const part = { hash: sha256(bytes), bytes: new Uint8Array(bytes) };
    blobs.push(part);
    parts.push({ blob: part.hash, size: bytes.length });
    open = [];
    openBytes = 0;
  };
  const pace = new Pace();
  for await (const chunk of chunks) {
    await pace.rest();
    for (const piece of bytesIn(chunk)) {
      hash.update(piece);
      await pace.rest();
    }
    size += chunk.length;
    if (!whole) continue;
    for (let at = 0; at < chunk.length;) {
      // A copy (`slice` of a Buffer is none): whoever reads for us may use the same memory for what comes next.
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

/** Who may run a file is a part of what it was. */
export const withMode = ({ version, blobs }: SavedContents, { mode }: { mode?: number }): SavedContents => ({
  version: mode === undefined ? version : { ...version, mode },
  blobs,
});

export const bytesOf = ({ blobs }: SavedContents): Buffer => Buffer.concat(blobs.map(({ bytes }) => bytes));

/** The same for what may be large. */
export async function sha256InSteps(bytes: Uint8Array): Promise<string> {
  const pace = new Pace();
  const hash = createHash("sha256");
  for (const piece of bytesIn(bytes)) {
    hash.update(piece);
    await pace.rest();
  }
  return hash.digest("hex");
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** What was seen, by what it holds: for contents to which no backend has given a version yet. */
export const contentVersion = (hash: string): string => hash;

/** As backends take it. */
export async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const pace = new Pace();
  for (const piece of bytesIn(bytes)) {
    yield piece;
    await pace.rest();
  }
}
