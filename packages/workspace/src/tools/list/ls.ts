import { defineTool } from "@cinch/core";
import * as z from "zod";
import type { Entry } from "../../backend.ts";
import { folderFit, judgedAsFolder } from "../../path-rules/index.ts";
import { isWithin, shown } from "../../paths.ts";
import { pathInput, reachOf, TIMEOUT_MS, type FileToolDeps } from "../file-tool-deps.ts";
import { lookupDirectory } from "../lookup/lookup.ts";
import { fitLines, LISTED, plural, sortInSteps } from "./listing.ts";

export const lsTool = (deps: FileToolDeps) =>
  defineTool({
    description: `List the direct entries of a directory: type, size in bytes, time of the last change (UTC) and path; directories first.
Up to ${LISTED} entries are shown. To find files at any depth call glob.`,
    category: "read",
    effect: "pure",
    timeoutMs: TIMEOUT_MS,
    input: z.object({ path: pathInput(deps, 'The directory. Default: "/", the root of the workspace.').optional() }),
    ...judgedAsFolder(deps, folderFit),
    async execute({ path: input = "/" }, context) {
      const path = deps.path(input);
      const reach = reachOf(context);
      await lookupDirectory(deps, path, reach);
      const all = await deps.backend.list(path, reach);
      const visible = all.filter((entry) => isWithin(entry.path, path) && !deps.rules.hides(entry.path));
      const entries = await sortInSteps(visible, order);
      if (entries.length === 0) return { content: `${shown(path)} is empty.`, details: { path, entries: 0 } };
      const lines = fitLines(entries.slice(0, LISTED).map(line));
      const left = entries.length - lines.length;
      const more =
        left > 0
          ? [`[${left} more are not shown. To see them call glob with path ${shown(path)} and a pattern such as "a*".]`]
          : [];
      const head = `${plural(entries.length, "entry", "entries")} in ${shown(path)}`;
      return { content: [head, ...lines, ...more].join("\n"), details: { path, entries: entries.length } };
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
