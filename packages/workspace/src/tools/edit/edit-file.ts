import { defineTool } from "@cinch/core";
import * as z from "zod";
import { shownDiff } from "../../diffs/unified-diff.ts";
import { FileError } from "../../file-error.ts";
import { readWritePolicy } from "../../path-rules/index.ts";
import { judgedAsFile } from "../judged.ts";
import { shown } from "../../paths.ts";
import { checkSeen, currentText, oldContents, replace } from "../change/change.ts";
import type { SavedContents } from "../../contents/saved-contents.ts";
import { CHANGES, pathInput, reachOf, textInput, type FileToolDeps } from "../file-tool-deps.ts";
import { plural } from "../list/listing.ts";
import { decoded, encoded } from "../../contents/long-text.ts";
import { lookupFile } from "../lookup/lookup.ts";
import { nearestLines } from "./nearest-lines.ts";
import { replaced, type Replaced } from "./replacement.ts";
import { lineCounter, snippet } from "./snippet.ts";

/** Several copies of the text are in memory during an edit. */
const EDITED_MIB = 32;
const EDITED_BYTES = EDITED_MIB * 1024 * 1024;
const LINES_NAMED = 10;

export const editFileTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Replace old_string by new_string in a file that was read with read_file in this thread. Both are plain text: nothing in them has a special meaning.
Copy old_string from the output of read_file, without the line numbers, with enough lines around it that it occurs in the file once; or set replace_all. Line endings of the file are kept.
Several edits of one file can be made at once. The result shows the changed lines.`,
    ...CHANGES,
    input: z.object({
      file_path: pathInput(deps, "The file."),
      old_string: textInput("The text to replace."),
      new_string: textInput("The new text. Empty: old_string is removed."),
      replace_all: z.boolean().describe("Replace every occurrence. Default: false.").optional(),
    }),
    ...judgedAsFile(deps, readWritePolicy),
    async preview({ file_path, old_string, new_string, replace_all = false }, context) {
      const path = deps.path(file_path);
      checkStrings(path, old_string, new_string);
      const text = await currentText(deps, await lookupFile(deps, path, reachOf(context)), context);
      if (text === undefined) return undefined;
      const result = await replaced(text, { old: old_string, new: new_string, all: replace_all });
      return result.kind === "done" ? shownDiff(path, text, result.text) : undefined;
    },
    execute({ file_path, old_string, new_string, replace_all = false }, context) {
      const path = deps.path(file_path);
      checkStrings(path, old_string, new_string);
      return deps.queue.run(path, context.signal, async () => {
        const stat = await lookupFile(deps, path, reachOf(context));
        if (stat.size > EDITED_BYTES) throw tooLarge(path, stat.size);
        const old = { stat, saved: await oldContents(deps, stat, context) };
        checkSeen(old, context);
        const text = await decodedText(path, old.saved);
        const result = await replaced(text, { old: old_string, new: new_string, all: replace_all });
        if (result.kind !== "done") throw new FileError("invalid", path, await problem(path, result, old_string));
        const bytes = await encoded(result.text);
        await replace(deps, { path, operation: "edit", old, bytes }, context);
        const { ranges, places, forgiving } = result;
        const head = `Edited ${shown(path)}: ${plural(places, "place")} changed.`;
        const remark = forgiving ? [FORGIVEN] : [];
        const content = [head, ...remark, snippet(result.text, ranges, places)].join("\n");
        return { content, details: { path, places, forgiving, ...(await shownDiff(path, text, result.text)) } };
      });
    },
  });

const DIFFERENCES = "white space at line ends and the kinds of quotes, dashes and spaces";

const FORGIVEN =
  "[old_string was not there as given. It was found by passing over white space at the end of lines and the kinds of quotes, dashes and spaces: check that this is what you meant.]";

function checkStrings(path: string, old: string, replacement: string): void {
  if (old === "") {
    const message =
      "old_string is empty. To insert something, give a line next to the place as old_string, and the same line with the new text as new_string. To fill an empty file call write_file.";
    throw new FileError("invalid", path, message);
  }
  if (old === replacement)
    throw new FileError("invalid", path, "old_string and new_string are the same: there is nothing to change.");
}

const tooLarge = (path: string, size: number): FileError =>
  new FileError(
    "invalid",
    path,
    `${shown(path)} has ${size} bytes; up to ${EDITED_BYTES} (${EDITED_MIB} MiB) can be edited. Use a command, or split the file.`,
  );

async function decodedText(path: string, { blobs }: SavedContents): Promise<string> {
  const text = await decoded(blobs.map(({ bytes }) => bytes));
  if (text !== undefined) return text;
  const message = `${shown(path)} is not text in UTF-8, and editing it would damage the rest of it. Use a command that knows its encoding.`;
  throw new FileError("invalid", path, message);
}

async function problem(path: string, result: Exclude<Replaced, { kind: "done" }>, old: string): Promise<string> {
  switch (result.kind) {
    case "same":
      return "old_string and new_string differ only in line ends or white space that is passed over, so there is nothing to change. To change line ends call write_file or use a command.";
    case "ambiguous": {
      const { places, view, forgiving } = result;
      const lineAt = lineCounter(view.text);
      const lines = places.slice(0, LINES_NAMED).map((place) => lineAt(place).no + 1);
      const more = places.length > LINES_NAMED ? ", …" : "";
      const how = forgiving ? ` (passing over ${DIFFERENCES})` : "";
      return `old_string was found ${places.length} times in ${shown(path)}${how}, at lines ${lines.join(", ")}${more}. Give more of the lines around the one that you mean, or set replace_all to change all of them.`;
    }
    case "missing":
      return notFound(path, result.view.text, old);
    default:
      return result satisfies never;
  }
}

async function notFound(path: string, text: string, old: string): Promise<string> {
  const head = `old_string was not found in ${shown(path)}, not even by passing over ${DIFFERENCES}.`;
  if (old.split("\n").every((line) => /^\s*\d+\t/.test(line)))
    return `${head} It begins with line numbers: leave them out, with the tab after them.`;
  const similar = await nearestLines(text, old);
  if (similar === "") return `${head} Call read_file to see what is there.`;
  return `${head} The most similar lines are:\n${similar}\nCopy what stands there, without the numbers, or call read_file to see more.`;
}
