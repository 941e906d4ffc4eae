import { builtin } from "./builtins.ts";
import { escapes } from "./escapes.ts";
import { git } from "./git.ts";
import { interpreter } from "./interpreters.ts";
import type { Look } from "./look.ts";
import { baseName, literal, type Word } from "./word.ts";
import { lookThrough } from "./wrappers.ts";

/** Everything that is known of a command whose program can be told. */
export function look(words: readonly Word[]): Look {
  const name = baseName(words[0]!.text ?? "");
  const parts = [
    lookThrough(name)?.(words),
    interpreter(name)?.(words),
    name === "git" ? git(words) : undefined,
    // `/usr/lib/git-core/git-push`
    name.startsWith("git-") ? { inner: [[literal("git"), literal(name.slice(4)), ...words.slice(1)]] } : undefined,
    escapes(name, words),
    builtin(name, words),
  ].filter((part) => part !== undefined);
  return {
    reach: Math.max(-1, ...parts.map(({ reach = -1 }) => reach)),
    opaque: parts.some(({ opaque }) => opaque),
    inner: parts.flatMap(({ inner = [] }) => inner).filter((inner) => inner.length > 0),
    code: parts.flatMap(({ code = [] }) => code),
    assignments: parts.flatMap(({ assignments = [] }) => assignments),
    harmless: parts.some(({ harmless }) => harmless),
  };
}
