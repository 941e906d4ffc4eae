import type { Policy, ToolContext } from "@cinch/core";
import type { GrepMatch, GrepQuery } from "../../backend.ts";
import { Pace } from "../../pace.ts";
import { Batches } from "../../search/index.ts";
import { PathNames } from "../../path-rules/path-names.ts";
import { reachOf, type FileToolDeps } from "../file-tool-deps.ts";
import { readPolicy } from "../../path-rules/file-rules.ts";
import { isWithin } from "../../paths.ts";

/** How many lines that match are counted. */
const SCANNED = 100_000;
/** How many of them can be shown. */
export const HELD = 10_000;
/** How much of a line is shown. */
export const SHOWN_CHARS = 500;

export interface FileCount {
  path: string;
  /** How many of them match. */
  lines: number;
}

export interface GrepOutcome {
  files: ReadonlyMap<string, FileCount>;
  /** In the order of paths and lines. */
  matches: GrepMatch[];
  total: number;
  /** There are more than are counted. */
  stopped: boolean;
  /** Files that match, and into which only a call of their own may look. */
  askedFor: ReadonlySet<string>;
}

/** What the rules hide or deny is not there. What they want to be asked for is named, and not shown. */
export async function searchLines(
  { backend, rules }: FileToolDeps,
  { query, most }: { query: GrepQuery; most: number },
  context: ToolContext,
): Promise<GrepOutcome> {
  const files = new Map<string, FileCount>();
  const askedFor = new Set<string>();
  const first = new FirstByPath<GrepMatch>(query.counts ? 0 : most);
  const reach = reachOf(context);
  const names = await PathNames.of(backend, query.path, reach);
  const says = (one: PathNames) => one.policy((name) => readPolicy(rules, name));
  const wasAsked = says(names) === "ask";
  const saysInside = (path: string) =>
    names.asked === names.real ? readPolicy(rules, path) : says(names.inside(path));
  const policyOf = (path: string): Policy | undefined =>
    isWithin(path, query.path) && !rules.hides(path) ? saysInside(path) : "deny";
  let [judged, file, total] = ["", { path: "", lines: 0 }, 0];
  let policy: Policy | undefined;
  const done = (stopped: boolean): GrepOutcome => ({ files, matches: first.sorted(), total, stopped, askedFor });
  const pace = new Pace();
  for await (const matches of Batches.of(backend.grep(query, reach))) {
    context.signal.throwIfAborted();
    const wait = pace.step();
    if (wait) await wait;
    for (const match of matches) {
      const { path, count = 1 } = match;
      if (path !== judged) {
        policy = policyOf((judged = path));
        file = files.get(path) ?? { path, lines: 0 };
      }
      if (policy === "deny") continue;
      if (policy === "ask" && !wasAsked) {
        askedFor.add(path);
        continue;
      }
      if (total >= SCANNED) return done(true);
      if (file.lines === 0) files.set(path, file);
      file.lines += count;
      total += count;
      first.add(match);
    }
  }
  return done(false);
}

/** Those that come first, in the order of paths and lines, of however many there are. */
export class FirstByPath<T extends { path: string; line?: number }> {
  readonly #most: number;
  #held: T[] = [];
  /** Nothing behind it can be among them any more. */
  #last: string | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  add(one: T): void {
    if (this.#most === 0 || (this.#last !== undefined && one.path > this.#last)) return;
    this.#held.push(one);
    if (this.#held.length < 2 * this.#most) return;
    this.#held = this.sorted();
    this.#last = this.#held.at(-1)!.path;
  }

  sorted(): T[] {
    return this.#held.toSorted(byPlace).slice(0, this.#most);
  }
}

const byPlace = (a: { path: string; line?: number }, b: { path: string; line?: number }): number => {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0);
};

/** `chars`: how long the line really is. */
export const shortened = (text: string, chars: number): string =>
  chars <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)} [the line goes on: see it with read_file]`;
