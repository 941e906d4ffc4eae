import { defineTool, type ToolContext } from "@cinch/core";
import * as z from "zod";
import type { Entry, GlobQuery } from "../../backend.ts";
import { FileError } from "../../file-error.ts";
import { treeFit } from "../../path-rules/index.ts";
import { judgedAsFolder } from "../judged.ts";
import { isWithin, shown } from "../../paths.ts";
import { Batches } from "../../search/index.ts";
import { pathInput, reachOf, READS, type FileToolDeps } from "../file-tool-deps.ts";
import { lookupDirectory } from "../lookup/lookup.ts";
import { FirstItems } from "./first-items.ts";
import { fitLines, LISTED, plural } from "./listing.ts";

export const globTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Find files by a pattern such as "**/*.ts" or "src/{a,b}*.md", the most recently changed first. "**/" stands for any number of folders, including none; names that begin with a dot match too. Folders that an ignore file excludes, .git and node_modules are left out unless the pattern or path names them.
Up to ${LISTED} paths are shown. To search the contents of files call grep.`,
    ...READS,
    input: z.object({
      pattern: z.string().min(1).max(1_000).describe("The pattern, relative to path."),
      path: pathInput(deps, 'The directory to look in. Default: "/", the root of the workspace.').optional(),
    }),
    ...judgedAsFolder(deps, treeFit),
    async execute({ pattern, path: input = "/" }, context) {
      const path = deps.path(input);
      await lookupDirectory(deps, path, reachOf(context));
      const { newest, total } = await findNewest(deps, { pattern: relativePattern(pattern, path), path }, context);
      const where = path === "/" ? "" : ` in ${shown(path)}`;
      if (total === 0) return { content: `Nothing matches ${pattern}${where}.`, details: { path, total } };
      const lines = fitLines(newest.map((entry) => shown(entry.path) + (entry.type === "directory" ? "/" : "")));
      const left = total - lines.length;
      const more = left > 0 ? [`[${left} more are not shown. Use a narrower pattern or a path to see them.]`] : [];
      const head = `${plural(total, "match", "matches")}${where}, the last changed first`;
      return { content: [head, ...lines, ...more].join("\n"), details: { path, total } };
    },
  });

/** A leading slash means the root. A pattern for another folder than `path` then matches nothing. */
function relativePattern(pattern: string, path: string): string {
  if (pattern.split("/").includes(".."))
    throw new FileError("outside", path, `A pattern can't hold "..": say with path where to look instead.`);
  const inside = pattern.startsWith(`${path}/`) ? pattern.slice(path.length) : pattern;
  return inside.replace(/^\/+/, "");
}

async function findNewest(
  { backend, rules }: FileToolDeps,
  query: GlobQuery,
  context: ToolContext,
): Promise<{ newest: Entry[]; total: number }> {
  const newest = new FirstItems(LISTED, byTime);
  let total = 0;
  for await (const entries of Batches.of(backend.glob(query, reachOf(context)))) {
    context.signal.throwIfAborted();
    for (const entry of entries) {
      if (!isWithin(entry.path, query.path) || rules.hides(entry.path)) continue;
      total++;
      newest.add(entry);
    }
  }
  return { newest: newest.sorted(), total };
}

const byTime = (a: Entry, b: Entry): number => b.modified - a.modified || (a.path < b.path ? -1 : 1);
