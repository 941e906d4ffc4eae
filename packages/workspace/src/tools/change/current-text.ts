import type { Stat } from "../../backend.ts";
import { collect } from "../../contents/collect.ts";
import { decoded } from "../../contents/long-text.ts";
import { MAX_DIFF_BYTES } from "../../diffs/unified-diff.ts";
import { readContents, type FileToolDeps, type ReadContext } from "../file-tool-deps.ts";

/** The text of a file, to preview a change of it. `undefined` if it is too large for a diff, or is not text. */
export async function currentText(deps: FileToolDeps, stat: Stat, context: ReadContext): Promise<string | undefined> {
  if (stat.type === "directory" || stat.size > MAX_DIFF_BYTES) return undefined;
  return decoded([await collect(readContents(deps, stat, context))]);
}
