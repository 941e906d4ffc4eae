import { defineTool } from "@cinch/core";
import * as z from "zod";
import { shownDiff, MAX_DIFF_BYTES } from "../../diffs/unified-diff.ts";
import { writePolicy } from "../../path-rules/index.ts";
import { judgedAsFile } from "../judged.ts";
import { shown } from "../../paths.ts";
import { CHANGES, pathInput, reachOf, textInput, type FileToolDeps } from "../file-tool-deps.ts";
import { plural } from "../list/listing.ts";
import { decoded, encoded, placesOf } from "../../contents/long-text.ts";
import { isADirectory } from "../lookup/lookup.ts";
import { checkSeen, currentText, oldContents, replace } from "./change.ts";
import { sha256InSteps, type SavedContents } from "../../contents/saved-contents.ts";

export const writeFileTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Create a file, with the directories above it, or replace the whole contents of one.
A file that exists must have been read with read_file in this thread and be unchanged since. To change a part of a file call edit_file.`,
    ...CHANGES,
    input: z.object({
      file_path: pathInput(deps, "The file."),
      content: textInput("The whole new contents of the file."),
    }),
    ...judgedAsFile(deps, writePolicy),
    async preview({ file_path, content }, context) {
      const path = deps.path(file_path);
      const stat = await deps.backend.stat(path, reachOf(context));
      const text = stat && (await currentText(deps, stat, context));
      return text === undefined || text === content ? undefined : shownDiff(path, text, content);
    },
    execute({ file_path, content }, context) {
      const path = deps.path(file_path);
      return deps.queue.run(path, context.signal, async () => {
        const bytes = await encoded(content);
        const size = `${plural(await lineCount(content), "line")}, ${plural(bytes.length, "byte")}`;
        const stat = await deps.backend.stat(path, reachOf(context));
        if (stat?.type === "directory") throw isADirectory(path);
        const old = stat && { stat, saved: await oldContents(deps, stat, context) };
        if (old?.saved.version.hash === (await sha256InSteps(bytes))) {
          context.files.read(path, old.stat.version);
          return { content: `${shown(path)} holds exactly this already (${size}).`, details: { path, changed: false } };
        }
        if (old) checkSeen(old, context);
        await replace(deps, { path, operation: "write", old, bytes }, context);
        const done = old ? "Replaced" : "Created";
        const lost =
          old && !old.saved.version.parts ? " What it held was too large to be kept: it can't be restored." : "";
        const diff = await diffTo(path, old?.saved ?? null, content);
        const details = { path, changed: true, created: !old, ...diff };
        return { content: `${done} ${shown(path)} (${size}).${lost}`, details };
      });
    },
  });

/** What a write changes, for a UI. Left out if the old contents are too large, or are not text. */
async function diffTo(path: string, old: SavedContents | null, content: string): Promise<{ diff: string } | undefined> {
  if (!old) return shownDiff(path, null, content);
  if (old.version.size > MAX_DIFF_BYTES) return undefined;
  const text = await decoded(old.blobs.map(({ bytes }) => bytes));
  return text === undefined ? undefined : shownDiff(path, text, content);
}

async function lineCount(text: string): Promise<number> {
  const { length } = await placesOf(text, "\n");
  return text === "" || text.endsWith("\n") ? length : length + 1;
}
