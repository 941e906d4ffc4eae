import type { FileDiff, FileReach, FileVersion } from "@cinch/core";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import type { Backend } from "../backend.ts";
import { backendReach, contentsOf, nowAt, reasonOf } from "./versions.ts";

/** Files that are larger are only said to have changed. */
const MAX_BYTES = 1024 * 1024;
/** How different two files may be. Beyond that, telling the differences takes longer than they are worth. */
const LIMITS = { maxEditLength: 4_000, timeout: 1_000 };

/** What a file was, and what it is. `null` if it is what it was. */
export async function diffOf(
  backend: Backend,
  { path, before }: { path: string; before: FileVersion | null },
  reach: FileReach,
): Promise<FileDiff | null> {
  const now = await nowAt(backend, path, backendReach(reach));
  const isFile = now.stat?.type === "file";
  if ((isFile ? now.hash : null) === (before?.hash ?? null)) return null;
  const status = statusOf(before !== null, isFile);
  const without = (note: string): FileDiff => ({ path, status, diff: "", note });
  if (before && !before.parts) return without("What it held was not kept.");
  if ((before?.size ?? 0) > MAX_BYTES || (isFile && now.stat!.size > MAX_BYTES))
    return without(`Larger than ${MAX_BYTES} bytes.`);
  try {
    const [was, is] = await Promise.all([
      before ? textOf(contentsOf(before, reach)) : "",
      isFile ? textOf(backend.read(path, {}, backendReach(reach))) : "",
    ]);
    if (was === null || is === null) return without("Not text.");
    const [from, to] = [before ? `a${path}` : "/dev/null", isFile ? `b${path}` : "/dev/null"];
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, ...LIMITS };
    const diff = createTwoFilesPatch(from, to, was, is, undefined, undefined, options);
    return diff === undefined ? without("Too different to be told line by line.") : { path, status, diff };
  } catch (error) {
    return without(reasonOf(error));
  }
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
