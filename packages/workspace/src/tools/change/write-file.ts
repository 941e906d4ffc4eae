import { defineTool } from "@cinch/core";
import * as z from "zod";
import { checkSeen, oldContents, replace } from "./change.ts";
import { sha256InSteps } from "./saved-contents.ts";
import { isADirectory } from "../lookup/lookup.ts";
import { plural } from "../list/listing.ts";
import { encoded, placesOf } from "../long-text.ts";
import { writePolicy } from "../../path-rules/file-rules.ts";
import { judgedAsFile } from "../../path-rules/judged.ts";
import { pathInput, reachOf, TIMEOUT_MS, type FileToolDeps } from "../file-tool-deps.ts";
import { shown } from "../../paths.ts";

/** Creates a file, or replaces all that it holds. */
export const writeFileTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Create a file, with the directories above it, or replace the whole contents of one.
A file that exists must have been read with read_file in this thread and be unchanged since. To change a part of a file call edit_file.`,
    category: "edit",
    // Its own later edits of the file are something that running it again would overwrite, so a crash in the middle is not passed over.
    effect: "once",
    timeoutMs: TIMEOUT_MS,
    input: z.object({
      file_path: pathInput(deps, "The file."),
      content: z.string().describe("All that the file is to hold."),
    }),
    ...judgedAsFile(deps, writePolicy),
    execute({ file_path, content }, context) {
      const path = deps.path(file_path);
      return deps.queue.run(path, context.signal, async () => {
        const bytes = await encoded(content);
        const size = `${plural(await lineCount(content), "line")}, ${plural(bytes.length, "byte")}`;
        const stat = await deps.backend.stat(path, reachOf(context));
        if (stat?.type === "directory") throw isADirectory(path);
        const old = stat && { stat, kept: await oldContents(deps, stat, context) };
        if (old?.kept.version.hash === (await sha256InSteps(bytes))) {
          context.files.read(path, old.stat.version);
          return { content: `${shown(path)} holds exactly this already (${size}).`, details: { path, changed: false } };
        }
        if (old) checkSeen(old, context);
        await replace(deps, { path, operation: "write", old, bytes }, context);
        const done = old ? "Replaced" : "Created";
        const lost =
          old && !old.kept.version.parts ? " What it held was too large to be kept: it can't be restored." : "";
        return { content: `${done} ${shown(path)} (${size}).${lost}`, details: { path, changed: true, created: !old } };
      });
    },
  });

async function lineCount(text: string): Promise<number> {
  const { length } = await placesOf(text, "\n");
  return text === "" || text.endsWith("\n") ? length : length + 1;
}
