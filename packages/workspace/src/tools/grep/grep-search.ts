import type { ToolContext } from "@cinch/core";
import type { GrepMatch, GrepQuery } from "../../backend.ts";
import { isDue, yieldIfDue } from "../../contents/pace.ts";
import { PathNames, policyInside } from "../../path-rules/index.ts";
import { isWithin } from "../../paths.ts";
import { Batches } from "../../search/index.ts";
import { reachOf, type FileToolDeps } from "../file-tool-deps.ts";
import { FirstItems } from "../list/first-items.ts";

const MAX_COUNTED = 100_000;
/** The largest `max_count`. */
export const MAX_SHOWN = 10_000;

export interface FileCount {
  path: string;
  /** How many lines match. */
  lines: number;
}

export interface GrepOutcome {
  files: ReadonlyMap<string, FileCount>;
  /** Ordered by path and line. */
  matches: GrepMatch[];
  total: number;
  /** There are more matches than are counted. */
  stopped: boolean;
  /** Files with matches that need an approval of their own. */
  askedFor: ReadonlySet<string>;
}

/** Files that the rules hide or deny are skipped. Files for which a rule asks are named, and their lines are not shown. */
export async function searchLines(
  { backend, rules }: FileToolDeps,
  { query, most }: { query: GrepQuery; most: number },
  context: ToolContext,
): Promise<GrepOutcome> {
  const files = new Map<string, FileCount>();
  const askedFor = new Set<string>();
  const first = new FirstItems<GrepMatch>(query.counts ? 0 : most, byPathAndLine);
  const reach = reachOf(context);
  const names = await PathNames.of(backend, query.path, reach);
  const inside = policyInside(rules, "read", names);
  const policyOf = (path: string) => (isWithin(path, query.path) && !rules.hides(path) ? inside(path) : "deny");
  let [judged, file, total, stopped] = ["", { path: "", lines: 0 }, 0, false];
  let policy: ReturnType<typeof policyOf>;
  search: for await (const matches of Batches.of(backend.grep(query, reach))) {
    context.signal.throwIfAborted();
    if (isDue()) await yieldIfDue();
    for (const match of matches) {
      const { path, count = 1 } = match;
      if (path !== judged) {
        policy = policyOf((judged = path));
        file = files.get(path) ?? { path, lines: 0 };
      }
      if (policy === "deny") continue;
      if (policy === "ask") {
        askedFor.add(path);
        continue;
      }
      stopped = total >= MAX_COUNTED;
      if (stopped) break search;
      if (file.lines === 0) files.set(path, file);
      file.lines += count;
      total += count;
      first.add(match);
    }
  }
  return { files, matches: first.sorted(), total, stopped, askedFor };
}

export const byPathAndLine = (a: { path: string; line?: number }, b: { path: string; line?: number }): number => {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0);
};
