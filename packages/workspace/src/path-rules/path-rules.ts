import { CinchError, Policy } from "@cinch/core";
import * as z from "zod/mini";
import { anyGlob, glob, MAX_PATTERN_LENGTH, type Glob, type GlobOptions } from "../glob/index.ts";

export const Operation = z.enum(["read", "write"]);
export type Operation = z.infer<typeof Operation>;

/** Where it could mean two things, a pattern has to say which: one for any folder begins with "**" + "/". */
const RulePath = z
  .string()
  .check(z.maxLength(MAX_PATTERN_LENGTH), z.regex(/^(\/|\*\*\/)/, 'must begin with "/", or with "**/" for any folder'));

/** What may be read or written where. Deleting is writing, listing and searching are reading. */
export const PathRule = z.strictObject({
  operations: z.array(Operation).check(z.minLength(1)),
  paths: z.array(RulePath).check(z.minLength(1)),
  mode: Policy,
});
export type PathRule = z.infer<typeof PathRule>;

interface Line {
  operations: readonly Operation[];
  glob: Glob;
  mode: Policy;
}

/** Rules, ready to be asked. Several lists, if they come from an agent and from those above it: each has its say. */
export interface PathRules {
  readonly lists: readonly (readonly Line[])[];
}

/** Throws `INVALID_CONFIG` for what is no list of rules. */
export function pathRules(rules: readonly PathRule[]): PathRules {
  const parsed = z.array(PathRule).safeParse(rules);
  if (!parsed.success)
    throw new CinchError("INVALID_CONFIG", `These path rules can't be used. ${z.prettifyError(parsed.error)}`);
  return { lists: [parsed.data.map(lineOf)] };
}

/**
 * A rule for everything in a directory is also for the directory: who may not read what is in it may not list it, and who may not change
 * what is in it may not delete it. What is forbidden is so in whatever case it is written, and however its letters are composed: there are disks on which that is the
 * same file. What is allowed is only what was named.
 */
export const ruleGlob = (path: string, mode: Policy): Glob => glob(path, ruleOptions(mode));

const ruleOptions = (mode: Policy): GlobOptions => ({ ignoreCase: mode !== "allow", itself: true });

const lineOf = ({ operations, paths, mode }: PathRule): Line => ({
  operations,
  glob: anyGlob(paths, ruleOptions(mode)),
  mode,
});

/** What the rules say of a path: in each list the first that fits decides, of several lists the strictest. `undefined`: nothing. */
export function policyFor({ lists }: PathRules, operation: Operation, path: string): Policy | undefined {
  const said = (lines: readonly Line[]) => lineFor(lines, operation, path)?.mode;
  if (lists.length === 1) return said(lists[0]!);
  const [first, ...others] = lists.map(said);
  return others.reduce(meet, first);
}

const lineFor = (lines: readonly Line[], operation: Operation, path: string): Line | undefined =>
  lines.find((line) => line.operations.includes(operation) && line.glob.matches(path));

/** Who is above has said something, or nothing; who is below can make it stricter. An `allow` from below alone would widen it. */
function meet(above: Policy | undefined, below: Policy | undefined): Policy | undefined {
  if (above === undefined) return below === "allow" ? undefined : below;
  return below === undefined ? above : stricter(above, below);
}

const STRICTNESS: Record<Policy, number> = { allow: 0, ask: 1, deny: 2 };

const stricter = (one: Policy, other: Policy): Policy => (STRICTNESS[one] >= STRICTNESS[other] ? one : other);

/** The rules of a subagent: nothing that its parent's don't permit. */
export const narrower = (parent: PathRules, child: PathRules): PathRules => ({
  lists: [...parent.lists, ...child.lists],
});

/** Whether lists leave a path out: it may not be read, and nothing below it may either. */
export function canHide({ lists }: PathRules, path: string): boolean {
  return lists.some((lines) => {
    const line = lineFor(lines, "read", path);
    if (line?.mode !== "deny") return false;
    const before = lines.slice(0, lines.indexOf(line));
    return !before.some((one) => one.mode !== "deny" && reads(one) && one.glob.reaches(path));
  });
}

const reads = ({ operations }: Line): boolean => operations.includes("read");

/** Whether something below a directory could be denied, or have to be asked for, to be written. */
export const guardsInside = ({ lists }: PathRules, directory: string): boolean =>
  lists
    .flat()
    .some(
      ({ mode, operations, glob: one }) => mode !== "allow" && operations.includes("write") && one.reaches(directory),
    );
