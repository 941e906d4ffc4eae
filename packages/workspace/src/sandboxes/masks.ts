import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Glob } from "../glob/index.ts";
import { isWithin } from "../paths.ts";
import { ruleGlob } from "../path-rules/path-rules.ts";
import type { SandboxBounds, SandboxRule } from "./sandbox.ts";

/** A command line has no room for more mounts. */
export const MAX_MOUNTS = 1_000;

/** The real paths of files and folders that path rules keep from commands. */
export interface Masks {
  /** Neither readable nor writable. */
  unreadable: string[];
  /** Readable, but not writable. */
  unwritable: string[];
}

interface CompiledRule extends Glob {
  deny: boolean;
}

/**
 * Finds the existing files that the rules deny, each list on its own. A folder that is denied as a whole is one entry, and covers files
 * that are created later; other files that appear after the command has started are not covered.
 */
export async function masksFor(root: string, rules: SandboxBounds["rules"]): Promise<Masks> {
  const found: Masks = { unreadable: [], unwritable: [] };
  for (const list of rules) await findMasks(root, list, found);
  // An empty folder is mounted over one that can't be read, so a mount below it would fail.
  const isCovered = (path: string, by: string[]) => by.some((one) => one !== path && isWithin(path, one));
  const unreadable = found.unreadable.filter((path) => !isCovered(path, found.unreadable));
  return { unreadable, unwritable: found.unwritable.filter((path) => !isCovered(path, unreadable)) };
}

async function findMasks(root: string, rules: readonly SandboxRule[], masks: Masks): Promise<void> {
  const read = compiled(rules, "read");
  const write = compiled(rules, "write");
  if (![...read, ...write].some(({ deny }) => deny)) return;

  const mask = async (list: string[], path: string) => {
    // A mount follows links. A target outside of the root is not visible to commands anyway.
    const target = await realpath(path).catch(() => undefined);
    if (target === undefined || !isWithin(target, root)) return;
    if (!list.includes(target)) list.push(target);
    if (masks.unreadable.length + masks.unwritable.length > MAX_MOUNTS) {
      throw new Error(
        `The path rules deny more than ${MAX_MOUNTS} files one by one. Deny whole folders ("/secrets/**") instead.`,
      );
    }
  };
  const visit = async (path: string, { isFolder, frozen }: { isFolder: boolean; frozen: boolean }): Promise<void> => {
    if (denies(read, path, { isFolder })) return mask(masks.unreadable, join(root, path));
    const isFrozen = frozen || denies(write, path, { isFolder });
    if (isFrozen && !frozen) await mask(masks.unwritable, join(root, path));
    // A folder that can't be written may contain files that can't be read.
    const further = isFrozen ? read : [...read, ...write];
    if (!isFolder || !further.some((rule) => rule.deny && rule.reaches(path))) return;
    const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => []);
    await Promise.all(
      entries.map((entry) => visit(`${path}/${entry.name}`, { isFolder: entry.isDirectory(), frozen: isFrozen })),
    );
  };
  await visit("", { isFolder: true, frozen: false });
}

function compiled(rules: readonly SandboxRule[], operation: "read" | "write"): CompiledRule[] {
  return rules
    .filter(({ operations }) => operations.includes(operation))
    .map(({ paths, mode }) => ({ deny: mode !== "allow", ...ruleGlob(paths, mode) }));
}

/** A folder is denied only as a whole, and only if no earlier rule allows something that could be in it. */
function denies(rules: CompiledRule[], path: string, { isFolder }: { isFolder: boolean }): boolean {
  for (const { deny, matches, covers } of rules) {
    if (isFolder && !deny) return false;
    if (isFolder ? covers(path) : matches(path)) return deny;
  }
  return false;
}
