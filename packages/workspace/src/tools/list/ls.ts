import { defineTool } from "@cinch/core";
import * as z from "zod";
import type { Entry } from "../../backend.ts";
import { isDue, yieldIfDue } from "../../contents/pace.ts";
import { folderFit } from "../../path-rules/index.ts";
import { judgedAsFolder } from "../judged.ts";
import { isWithin, shown } from "../../paths.ts";
import { pathInput, reachOf, READS, type FileToolDeps } from "../file-tool-deps.ts";
import { lookupDirectory } from "../lookup/lookup.ts";
import { FirstItems } from "./first-items.ts";
import { fitLines, LISTED, plural } from "./listing.ts";

export const lsTool = (deps: FileToolDeps) =>
  defineTool({
    description: `List the direct entries of a directory: type, size in bytes, time of the last change (UTC) and path; directories first.
Up to ${LISTED} entries are shown. To find files at any depth call glob.`,
    ...READS,
    input: z.object({ path: pathInput(deps, 'The directory. Default: "/", the root of the workspace.').optional() }),
    ...judgedAsFolder(deps, folderFit),
    async execute({ path: input = "/" }, context) {
      const path = deps.path(input);
      const reach = reachOf(context);
      await lookupDirectory(deps, path, reach);
      const first = new FirstItems(LISTED, order);
      let total = 0;
      for (const entry of await deps.backend.list(path, reach)) {
        if (isDue()) await yieldIfDue();
        if (!isWithin(entry.path, path) || deps.rules.hides(entry.path)) continue;
        total++;
        first.add(entry);
      }
      if (total === 0) return { content: `${shown(path)} is empty.`, details: { path, entries: 0 } };
      const lines = fitLines(first.sorted().map(line));
      const left = total - lines.length;
      const more =
        left > 0
          ? [`[${left} more are not shown. To see them call glob with path ${shown(path)} and a pattern such as "a*".]`]
          : [];
      const head = `${plural(total, "entry", "entries")} in ${shown(path)}`;
      return { content: [head, ...lines, ...more].join("\n"), details: { path, entries: total } };
    },
  });

const order = (a: Entry, b: Entry): number => {
  if (a.type !== b.type) return a.type === "directory" ? -1 : 1;
  return a.path < b.path ? -1 : 1;
};

function line({ type, size, modified, path, target }: Entry): string {
  const isFolder = type === "directory";
  const time = new Date(modified).toISOString().slice(0, 19);
  const name = `${shown(path)}${isFolder ? "/" : ""}${target === undefined ? "" : ` -> ${shown(target)}`}`;
  return `${type.padEnd(9)} ${(isFolder ? "-" : String(size)).padStart(12)}  ${time}Z  ${name}`;
}
