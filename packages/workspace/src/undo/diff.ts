import type { FileDiff } from "@cinch/core";
import type { FileVersion } from "@cinch/core/workspace";
import { collect } from "../contents/collect.ts";
import { MAX_DIFF_BYTES, unifiedDiff } from "../diffs/unified-diff.ts";
import { errorMessage } from "../file-error.ts";
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
      before ? decoded(storedContents(before, reach)) : "",
      file ? decoded(backend.read(path, {}, backendReach(reach))) : "",
    ]);
    if (was === null || is === null) return without("Not text.");
    const diff = await unifiedDiff({ path: before && path, text: was }, { path: file && path, text: is });
    return { path, status, diff };
  } catch (error) {
    return without(errorMessage(error));
  }
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
