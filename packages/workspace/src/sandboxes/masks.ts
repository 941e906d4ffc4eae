import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { ruleGlob } from "../path-rules/path-rules.ts";
import type { SandboxRule } from "./sandbox.ts";
import { isIn } from "./view.ts";

/** More than this many mounts make no command line. */
const MOST = 1_000;

/** Files and folders that path rules keep from commands, by their real path. */
export interface Masks {
  /** Neither to be read nor changed. */
  unreadable: string[];
  /** To be read, but not changed. */
  unwritable: string[];
}

type Operation = "read" | "write";

/** A rule, ready to be asked. */
interface Asked {
  deny: boolean;
  fits(path: string): boolean;
  /** Whether it fits everything in this folder. */
  fitsAll(path: string): boolean;
  /** Whether it can fit anything in this folder. */
  reaches(path: string): boolean;
}

/**
 * Which of the files that are there the rules deny. A folder of which everything is denied is one entry, and covers what comes into it
 * later; otherwise what appears after the command has started is not covered.
 */
export async function masksFor(root: string, rules: readonly SandboxRule[]): Promise<Masks> {
  const masks: Masks = { unreadable: [], unwritable: [] };
  const read = asked(rules, "read");
  const write = asked(rules, "write");
  if (![...read, ...write].some(({ deny }) => deny)) return masks;

  const mask = async (list: string[], path: string) => {
    // A mount goes where a link leads. If that is outside of the root, it is not there for a command anyway.
    const target = await realpath(path).catch(() => undefined);
    if (target === undefined || !isIn(target, root)) return;
    if (!list.includes(target)) list.push(target);
    if (masks.unreadable.length + masks.unwritable.length > MOST) {
      throw new Error(
        `The path rules deny more than ${MOST} files one by one; deny whole folders ("/secrets/**") instead.`,
      );
    }
  };
  const look = async (path: string, whole: boolean, frozen: boolean): Promise<void> => {
    if (denies(read, path, whole)) return mask(masks.unreadable, join(root, path));
    const kept = frozen || denies(write, path, whole);
    if (kept && !frozen) await mask(masks.unwritable, join(root, path));
    // What can't be changed as a whole may hold something that may not even be read.
    const further = kept ? read : [...read, ...write];
    if (whole && further.some((rule) => rule.deny && rule.reaches(path))) await walk(path, kept);
  };
  const walk = async (folder: string, frozen: boolean): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    await Promise.all(entries.map((entry) => look(`${folder}/${entry.name}`, entry.isDirectory(), frozen)));
  };
  await look("", true, false);
  return masks;
}

function asked(rules: readonly SandboxRule[], operation: Operation): Asked[] {
  return rules
    .filter(({ operations }) => operations.includes(operation))
    .map(({ paths, mode }) => {
      const globs = paths.map((path) => ruleGlob(path, mode));
      return {
        deny: mode !== "allow",
        fits: (path) => globs.some((one) => one.matches(path)),
        fitsAll: (path) => globs.some((one) => one.covers(path)),
        reaches: (path) => globs.some((one) => one.reaches(path)),
      };
    });
}

/** A folder is denied only as a whole, and only if no rule before that allows something, which could be in it. */
function denies(rules: Asked[], path: string, folder: boolean): boolean {
  for (const { deny, fits, fitsAll } of rules) {
    if (folder && !deny) return false;
    if (folder ? fitsAll(path) : fits(path)) return deny;
  }
  return false;
}
