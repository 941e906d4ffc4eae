import { CinchError, type Policy } from "@cinch/core";
import { PathRule, type Operation, type PathRuleLists } from "@cinch/core/workspace";
import * as z from "zod/mini";
import { anyGlob, MAX_PATTERN_LENGTH, type Glob } from "../glob/index.ts";
import { stricter } from "./path-names.ts";

/** A pattern without an anchor could mean two things. */
const RulePath = z
  .string()
  .check(z.maxLength(MAX_PATTERN_LENGTH), z.regex(/^(\/|\*\*\/)/, 'must begin with "/", or with "**/" for any folder'));

const AnchoredRule = z.extend(PathRule, { paths: z.array(RulePath).check(z.minLength(1)) });

interface Line {
  operations: readonly Operation[];
  glob: Glob;
  mode: Policy;
}

/** Compiled rules. A subagent has one list for itself and one for each agent above it. */
export interface PathRules {
  readonly lists: readonly (readonly Line[])[];
}

/** Throws `INVALID_CONFIG` for anything but a list of rules. */
export function pathRules(rules: readonly PathRule[]): PathRules {
  const parsed = z.array(AnchoredRule).safeParse(rules);
  if (!parsed.success)
    throw new CinchError("INVALID_CONFIG", `These path rules can't be used. ${z.prettifyError(parsed.error)}`);
  return { lists: [parsed.data.map(lineOf)] };
}

const compiled = new WeakMap<readonly PathRule[], PathRules["lists"]>();

/** The rules of several agents. Each list is compiled once. */
export function agentPathRules(given: PathRuleLists): PathRules {
  const lists = given.flatMap((rules) => {
    const known = compiled.get(rules) ?? pathRules(rules).lists;
    compiled.set(rules, known);
    return known;
  });
  return { lists };
}

/**
 * A rule for everything in a directory also covers the directory: if its contents must not be read, it must not be listed. `ask` and
 * `deny` ignore case and Unicode composition, because on some disks the other spelling is the same file. `allow` is exact.
 */
export const ruleGlob = (paths: readonly string[], mode: Policy): Glob =>
  anyGlob(paths, { ignoreCase: mode !== "allow", itself: true });

const lineOf = ({ operations, paths, mode }: PathRule): Line => ({ operations, glob: ruleGlob(paths, mode), mode });

/** The first rule of each list that matches, and the strictest of these. `undefined`: no rule matches, or only an `allow` of a further list. */
export function policyFor({ lists }: PathRules, operation: Operation, path: string): Policy | undefined {
  const [first, ...others] = lists.map((lines) => lineFor(lines, operation, path)?.mode);
  // A list further down may only make the policy stricter: its `allow` alone would widen it.
  return others.reduce((above, below) => (below === undefined ? above : stricter(above, below)), first);
}

const lineFor = (lines: readonly Line[], operation: Operation, path: string): Line | undefined =>
  lines.find((line) => line.operations.includes(operation) && line.glob.matches(path));

/** The rules of a subagent: they permit nothing that the rules of its parent don't. A later change of either counts. */
export const narrower = (parent: PathRules, child: PathRules): PathRules => ({
  get lists() {
    return [...parent.lists, ...child.lists];
  },
});

/** Which of the lists ask. */
export const askingLists = ({ lists }: PathRules, operation: Operation, path: string): number[] =>
  [...lists.keys()].filter((at) => lineFor(lists[at]!, operation, path)?.mode === "ask");

/** Whether listings omit a path: it must not be read, nor may anything below it. */
export function canHide({ lists }: PathRules, path: string): boolean {
  return lists.some((lines) => {
    const line = lineFor(lines, "read", path);
    if (line?.mode !== "deny") return false;
    const before = lines.slice(0, lines.indexOf(line));
    return !before.some((one) => one.mode !== "deny" && one.operations.includes("read") && one.glob.reaches(path));
  });
}

/** Whether a rule could deny to delete something below a directory. */
export const guardsInside = ({ lists }: PathRules, directory: string): boolean =>
  lists.flat().some(({ mode, glob: one }) => mode === "deny" && one.reaches(directory));
