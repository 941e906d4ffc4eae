import type { FileDiff, FileVersion } from "@cinch/core";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { backendReach, contentsOf, reasonOf, type Looking, type Now } from "./versions.ts";

/** Files that are larger are only said to have changed. */
const MAX_BYTES = 1024 * 1024;
/** How different two files may be. Beyond that, telling the differences takes longer than they are worth. */
const LIMITS = { maxEditLength: 4_000, timeout: 5_000 };
/** Most are told in less than this, without letting anything else go first. */
const AT_ONCE_MS = 30;

/** What a file was, and what it is. `null` if it is what it was. */
export async function diffOf(
  now: Now | { path: string; failed: string },
  before: FileVersion | null,
  { backend, reach }: Looking,
): Promise<FileDiff | null> {
  const { path } = now;
  if ("failed" in now) return { path, status: statusOf(before !== null, true), diff: "", note: now.failed };
  const file = now.sight.kind === "file" ? now.sight.file : null;
  const isFile = file !== null;
  if ((isFile ? now.hash : null) === (before?.hash ?? null)) return null;
  const status = statusOf(before !== null, isFile);
  const without = (note: string): FileDiff => ({ path, status, diff: "", note });
  if (before && !before.parts) return without("What it held was not kept.");
  if ((before?.size ?? 0) > MAX_BYTES || (file && file.size > MAX_BYTES))
    return without(`Larger than ${MAX_BYTES} bytes.`);
  try {
    const [was, is] = await Promise.all([
      before ? textOf(contentsOf(before, reach)) : "",
      isFile ? textOf(backend.read(path, {}, backendReach(reach))) : "",
    ]);
    if (was === null || is === null) return without("Not text.");
    const [from, to] = [before ? `a${path}` : "/dev/null", isFile ? `b${path}` : "/dev/null"];
    const diff = await patchOf([from, was], [to, is]);
    return diff === undefined ? without("Too different to be told line by line.") : { path, status, diff };
  } catch (error) {
    return without(reasonOf(error));
  }
}

type Named = [name: string, text: string];

/** `undefined` if they are too different. */
async function patchOf([from, was]: Named, [to, is]: Named): Promise<string | undefined> {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, ...LIMITS };
  const quick = createTwoFilesPatch(from, to, was, is, undefined, undefined, { ...options, timeout: AT_ONCE_MS });
  if (quick !== undefined) return quick;
  return new Promise((resolve) => {
    createTwoFilesPatch(from, to, was, is, undefined, undefined, { ...options, callback: resolve });
  });
}

function statusOf(was: boolean, is: boolean): FileDiff["status"] {
  if (!was) return "added";
  return is ? "modified" : "deleted";
}

/** `null` if it is none. */
async function textOf(contents: AsyncIterable<Uint8Array>): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of contents) chunks.push(new Uint8Array(chunk));
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
