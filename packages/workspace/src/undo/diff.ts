import type { FileDiff } from "@cinch/core";
import type { FileVersion } from "@cinch/core/workspace";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { collect } from "../contents/collect.ts";
import { errorMessage } from "../file-error.ts";
import { backendReach, storedContents, type CurrentFile, type LookOptions } from "./current-file.ts";

/** Larger files are only reported as changed. */
const MAX_BYTES = 1024 * 1024;
/** Computing the diff of files that are more different takes too long. */
const LIMITS = { maxEditLength: 4_000, timeout: 5_000 };
/** Most diffs are computed in less time, without yielding to the event loop. */
const SYNCHRONOUS_MS = 30;

/** From a version to what is there now. `null` if nothing has changed. */
export async function diffOf(
  now: CurrentFile | { path: string; failed: string },
  before: FileVersion | null,
  { backend, reach }: LookOptions,
): Promise<FileDiff | null> {
  const { path } = now;
  if ("failed" in now) return { path, status: before ? "modified" : "added", diff: "", note: now.failed };
  const file = now.sight.kind === "file" ? now.sight.file : null;
  if ((file && now.hash) === (before?.hash ?? null)) return null;
  const changed = file ? "modified" : "deleted";
  const status = before ? changed : "added";
  const without = (note: string): FileDiff => ({ path, status, diff: "", note });
  if (before && !before.parts) return without("Its earlier contents were not kept.");
  if ((before?.size ?? 0) > MAX_BYTES || (file && file.size > MAX_BYTES))
    return without(`Larger than ${MAX_BYTES} bytes.`);
  try {
    const [was, is] = await Promise.all([
      before ? decoded(storedContents(before, reach)) : "",
      file ? decoded(backend.read(path, {}, backendReach(reach))) : "",
    ]);
    if (was === null || is === null) return without("Not text.");
    const [from, to] = [before ? `a${path}` : "/dev/null", file ? `b${path}` : "/dev/null"];
    const diff = await patchOf([from, was], [to, is]);
    return diff === undefined ? without("Too different for a diff.") : { path, status, diff };
  } catch (error) {
    return without(errorMessage(error));
  }
}

type NamedText = [name: string, text: string];

/** `undefined` if they are too different. */
async function patchOf([from, was]: NamedText, [to, is]: NamedText): Promise<string | undefined> {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, ...LIMITS };
  const quick = createTwoFilesPatch(from, to, was, is, undefined, undefined, { ...options, timeout: SYNCHRONOUS_MS });
  if (quick !== undefined) return quick;
  return new Promise((resolve) => {
    createTwoFilesPatch(from, to, was, is, undefined, undefined, { ...options, callback: resolve });
  });
}

/** `null` if the contents are not text. */
async function decoded(contents: AsyncIterable<Uint8Array>): Promise<string | null> {
  const bytes = await collect(contents);
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
