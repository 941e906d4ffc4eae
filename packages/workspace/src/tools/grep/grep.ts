import { defineTool } from "@cinch/core";
import * as z from "zod";
import { treeFit } from "../../path-rules/index.ts";
import { judgedAsFolder } from "../judged.ts";
import { shown } from "../../paths.ts";
import { pathInput, reachOf, READS, type FileToolDeps } from "../file-tool-deps.ts";
import { plural } from "../list/listing.ts";
import { lookup } from "../lookup/lookup.ts";
import { contentResults, fileResults } from "./grep-results.ts";
import { MAX_SHOWN, searchLines, type GrepOutcome } from "./grep-search.ts";

const MAX_COUNT = 100;
const MAX_CONTEXT = 20;

export const grepTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Search the contents of files. pattern is plain text, or with regex: true a regular expression in ripgrep's syntax; it is matched line by line.
Folders that an ignore file excludes, .git and node_modules are left out unless path names them.
output_mode "files_with_matches" (default) gives paths, "content" the lines as path:line:text, "count" the number of lines for each file. Up to max_count results (${MAX_COUNT} if not given) are shown.`,
    ...READS,
    input: z.object({
      pattern: z
        .string()
        .min(1)
        .max(10_000)
        .refine((text) => !/[\r\n]/.test(text), "is looked for line by line: give one line of it")
        .describe("What to look for."),
      path: pathInput(deps, 'A file, or a directory with everything in it. Default: "/", the root.').optional(),
      glob: z
        .string()
        .min(1)
        .max(1_000)
        .describe(
          'Only files that match: by name at any depth ("*.ts"), or by path ("src/**/*.ts"). With "!" in front, only those that do not.',
        )
        .optional(),
      output_mode: z.enum(["files_with_matches", "content", "count"]).optional(),
      regex: z.boolean().describe("Whether pattern is a regular expression. Default: false.").optional(),
      ignore_case: z.boolean().describe("Default: false.").optional(),
      context: z
        .int()
        .min(0)
        .max(MAX_CONTEXT)
        .describe(`For "content": how many lines to show before and after, up to ${MAX_CONTEXT}. Default: 0.`)
        .optional(),
      max_count: z.int().min(1).max(MAX_SHOWN).describe(`How many results to show. Default: ${MAX_COUNT}.`).optional(),
    }),
    ...judgedAsFolder(deps, treeFit),
    async execute(args, context) {
      const { pattern, output_mode: mode = "files_with_matches", max_count: most = MAX_COUNT } = args;
      const path = deps.path(args.path ?? "/");
      await lookup(deps, path, reachOf(context));
      const { glob, regex = false, ignore_case: ignoreCase = false } = args;
      const query = { pattern, path, glob, regex, ignoreCase, counts: mode !== "content" };
      const outcome = await searchLines(deps, { query, most }, context);
      const { total } = outcome;
      const files = outcome.files.size;
      const details = { path, files, lines: total };
      if (total === 0) return { content: [`Nothing matches ${pattern}.`, ...remarks(outcome)].join("\n"), details };
      const around = args.context ?? 0;
      const { lines, shown: count } =
        mode === "content"
          ? await contentResults(deps, { outcome, around }, context)
          : fileResults(outcome, { mode, most });
      const left = (mode === "content" ? total : files) - count;
      const more =
        left > 0 ? [`[${left} more are not shown. Give a narrower pattern, path or glob, or a higher max_count.]`] : [];
      const head = `${plural(total, "line")} in ${plural(files, "file")}`;
      return { content: [head, ...lines, ...more, ...remarks(outcome)].join("\n"), details };
    },
  });

function remarks({ stopped, total, askedFor }: GrepOutcome): string[] {
  const remark: string[] = [];
  if (stopped) remark.push(`[The search was stopped at ${total} lines: there are more. Narrow it to see all.]`);
  const names = [...askedFor].slice(0, 5).map(shown).join(", ");
  if (askedFor.size > 0)
    remark.push(
      `[${plural(askedFor.size, "file")} left out: ${names}. To look into one, call grep with its path: it has to be asked for.]`,
    );
  return remark;
}
