import type { FileDiff } from "@cinch/core";
import type { FileVersion } from "@cinch/core/workspace";
import { collect } from "../contents/collect.ts";
import { decoded } from "../contents/long-text.ts";
import { MAX_DIFF_BYTES, unifiedDiff } from "../diffs/unified-diff.ts";
import { errorMessage } from "../thrown-error.ts";
import { backendReach, storedContents, type CurrentFile, type LookOptions } from "./current-file.ts";

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
  if ((before?.size ?? 0) > MAX_DIFF_BYTES || (file && file.size > MAX_DIFF_BYTES))
    return without(`Larger than ${MAX_DIFF_BYTES} bytes.`);
  try {
    const [was, is] = await Promise.all([
      before ? textOf(storedContents(before, reach)) : "",
      file ? textOf(backend.read(path, {}, backendReach(reach))) : "",
    ]);
    if (was === undefined || is === undefined) return without("Not text.");
    const diff = await unifiedDiff({ path: before && path, text: was }, { path: file && path, text: is });
    return { path, status, diff };
  } catch (error) {
    return without(errorMessage(error));
  }
}

/** `undefined` if the contents are not text. */
async function textOf(contents: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const bytes = await collect(contents);
  return bytes.includes(0) ? undefined : decoded([bytes]);
}
