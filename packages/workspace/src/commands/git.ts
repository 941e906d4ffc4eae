import type { Look } from "./look.ts";
import { literal, mayBeOption, type Word } from "./word.ts";

/** Options before the subcommand that take a value, and those that change nothing but the looks. */
const VALUES =
  /^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--attr-source|--super-prefix|--exec-path|--list-cmds)$/;
const LOOKS = /^(?:-P|--no-pager|--no-optional-locks|--no-replace-objects|--literal-pathspecs|--no-advice)$/;

/** Settings that name no program. Of any other it is not known what it runs. */
const PLAIN_SETTING =
  /^(?:user\.(?:name|email)|color\.[\w.]+|core\.(?:quotepath|autocrlf|filemode|abbrev)|advice\.\w+|init\.defaultbranch|safe\.directory|commit\.gpgsign|tag\.gpgsign|push\.default|pull\.(?:rebase|ff))(?:=|$)/i;

/** What makes a subcommand run a program that its arguments name; git takes any beginning of a long option that is unique. */
const RUNS = new Map<string, RegExp>(
  Object.entries({
    rebase: /^(?:-x|--ex)/,
    difftool: /^(?:-x|--ext|-t|--tool)/,
    grep: /^(?:-[a-zA-Z]*O|--open)/,
    fetch: /^--upload-p/,
    pull: /^--upload-p/,
    clone: /^(?:--upload-p|-u|-c|--con|--templ)/,
    init: /^--templ/,
    "ls-remote": /^--(?:upload-p|ex)/,
    "fetch-pack": /^--(?:upload-p|ex)/,
    push: /^--(?:receive-p|ex)/,
    "send-pack": /^--(?:receive-p|ex)/,
    archive: /^--ex/,
    submodule: /^foreach$/,
    bisect: /^run$/,
    "filter-branch": /^/,
    config:
      /^(?:alias\.|include|.*(?:pager|editor|command|path|monitor|askpass|cmd|helper|program|textconv|clean|smudge|process|driver|external))/i,
    daemon: /^/,
    "send-email": /^--/,
    instaweb: /^/,
  }),
);
const ANYWHERE = /^ext::/;
/** What shows differences takes a file to write them to. */
const SHOWS = /^(?:log|diff|show|stash|reflog|format-patch|range-diff|whatchanged|diff-\w+|archive)$/;
const WRITES = /^(?:--ou|-o)/;

/** `git -C /x push` is a push: what stands before the subcommand is taken away, and what runs something else is found. */
export function git(words: readonly Word[]): Partial<Look> {
  let at = 1;
  let changes = false;
  let opaque = false;
  for (; at < words.length && mayBeOption(words[at]!); at++) {
    const { text } = words[at]!;
    if (text === undefined) return { opaque: true, reach: words.length - 1 };
    if (LOOKS.test(text)) continue;
    changes = true;
    opaque ||= /^--(?:exec-path|config-env)/.test(text) || (text === "-c" && !isPlainSetting(words[at + 1]));
    if (VALUES.test(text)) at++;
  }
  const subcommand = words[at]?.text;
  const found = escape(words, at, subcommand);
  const reach = Math.max(changes ? Math.min(at, words.length - 1) : -1, found?.at ?? -1);
  const inner = at > 1 && at < words.length ? [[literal("git"), ...words.slice(at)]] : [];
  return { reach, opaque: opaque || (found?.runs ?? false), inner, harmless: !changes && !opaque && inner.length > 0 };
}

const isPlainSetting = (word: Word | undefined): boolean => PLAIN_SETTING.test(word?.prefix ?? "");

/** The last argument that does more than the subcommand says, or that may turn out to be such an option. */
function escape(words: readonly Word[], from: number, subcommand = ""): { at: number; runs: boolean } | undefined {
  const runs = RUNS.get(subcommand);
  const writes = SHOWS.test(subcommand);
  let found: { at: number; runs: boolean } | undefined;
  for (const [at, word] of words.entries()) {
    if (at <= from) continue;
    const isRun = ANYWHERE.test(word.prefix) || (runs?.test(word.prefix) ?? false);
    const isUnknown = word.text === undefined && mayBeOption(word) && (runs !== undefined || writes);
    if (isRun || isUnknown || (writes && WRITES.test(word.prefix)))
      found = { at, runs: isRun || (found?.runs ?? false) };
  }
  return found;
}
