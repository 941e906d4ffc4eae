import type { Policy, ToolContext } from "@cinch/core";
import type { GrepMatch, GrepQuery } from "../backend.ts";
import { Pace } from "../pace.ts";
import { Names } from "./names.ts";
import { reachOf, type Place } from "./place.ts";
import { readPolicy } from "./rules.ts";
import { isWithin } from "../paths.ts";

/** How many lines that match are counted. */
const SCANNED = 100_000;
/** How many of them are held, to be sorted. */
export const HELD = 10_000;
/** How much of a line is shown. */
export const SHOWN_CHARS = 500;

export interface Search {
  /** How many lines match in each file. */
  counts: ReadonlyMap<string, number>;
  /** In the order of paths and lines. */
  matches: GrepMatch[];
  total: number;
  /** There are more than are counted. */
  stopped: boolean;
  /** Files that match, and into which only a call of their own may look. */
  askedFor: ReadonlySet<string>;
}

/** What the rules hide or deny is not there. What they want to be asked for is named, and not shown. */
export async function search({ backend, rules }: Place, query: GrepQuery, context: ToolContext): Promise<Search> {
  const counts = new Map<string, number>();
  const askedFor = new Set<string>();
  const matches: GrepMatch[] = [];
  const reach = reachOf(context);
  const names = await Names.of(backend, query.path, reach);
  const says = (one: Names) => one.policy((name) => readPolicy(rules, name));
  const wasAsked = says(names) === "ask";
  let [judged, policy] = ["", undefined as Policy | undefined];
  let total = 0;
  let stopped = false;
  const pace = new Pace();
  for await (const { path, line, text: whole, count } of backend.grep(query, reach)) {
    context.signal.throwIfAborted();
    const wait = pace.step();
    if (wait) await wait;
    if (path !== judged) {
      judged = path;
      policy = isWithin(path, query.path) && !rules.hides(path) ? says(names.inside(path)) : "deny";
    }
    if (policy === "deny") continue;
    if (policy === "ask" && !wasAsked) {
      askedFor.add(path);
      continue;
    }
    if ((stopped = total >= SCANNED)) break;
    total += count ?? 1;
    counts.set(path, (counts.get(path) ?? 0) + (count ?? 1));
    if (query.counts || matches.length === HELD) continue;
    const text = withoutEnd(whole);
    matches.push({ path, line, text: shortened(text, text.length) });
  }
  matches.sort((a, b) => (a.path === b.path ? a.line - b.line : byName(a.path, b.path)));
  return { counts, matches, total, stopped, askedFor };
}

function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === "\n" || line[end - 1] === "\r")) end--;
  return line.slice(0, end);
}

export const byName = (a: string, b: string): number => (a < b ? -1 : 1);

/** `chars`: how long the line really is. */
export const shortened = (text: string, chars: number): string =>
  chars <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)} [the line goes on: see it with read_file]`;
