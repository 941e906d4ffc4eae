import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "./environment.ts";

/** For every repository that git meets, whatever its own configuration says. */
const EVERYWHERE: [key: string, value: string][] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["credential.helper", ""],
  ["protocol.ext.allow", "never"],
  // A folder of files that looks like a repository would bring a configuration of its own along, through any clone.
  ["safe.bareRepository", "explicit"],
];

const VARIABLES = { GIT_ASKPASS: "", GIT_SSH_COMMAND: "ssh -oBatchMode=yes" };

/** What git would have done without a program: it gives path, old file, hash, mode and new file. */
const PLAIN_DIFF = `f() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5"; :; }; f`;

/** Keys that name a program, and what to say in their place. Their names are the repository's choice, so they have to be read first. */
const PROGRAMS: [key: RegExp, instead: [key: string, value: string] | string][] = [
  [/^alias\./, ""],
  [/^diff\.(external|.+\.command)$/, PLAIN_DIFF],
  [/^diff\..+\.textconv$/, "cat"],
  [/^filter\..+\.(clean|smudge|process)$/, ""],
  [/^filter\..+\.required$/, "false"],
  [/^merge\..+\.driver$/, "git merge-file %A %O %B"],
  [/^credential\..+\.helper$/, ""],
  [/^gpg\.program$|^gpg\.openpgp\.program$/, "gpg"],
  [/^gpg\.x509\.program$/, "gpgsm"],
  [/^gpg\.ssh\.program$/, "ssh-keygen"],
  [/^gpg\.ssh\.defaultkeycommand$/, ""],
  [/^submodule\..+\.update$/, "checkout"],
  [/^(trailer\..+\.(command|cmd)|interactive\.difffilter|core\.alternaterefscommand)$/, "true"],
  [/^((diff|merge|gui)tool|browser|man)\..+\.(cmd|path)$|^(help|web)\.browser$|^sendemail\./, "false"],
  // Git takes the first of these, so that they can't be replaced: only the ways on which they would run can be closed.
  [/^remote\..+\.(uploadpack|receivepack)$/, ["protocol.file.allow", "never"]],
  [/^core\.gitproxy$/, ["protocol.git.allow", "never"]],
];

/**
 * Variables that keep git from running programs which a repository names in its configuration or brings as hooks. They hold for the
 * repository around `cwd` in full; for one that a command goes to by itself (a submodule, `git -C`), only what has a fixed name is
 * turned off.
 */
export async function strangeRepository(cwd: string, env: Environment): Promise<Environment> {
  const careful = { ...env, ...VARIABLES, ...asVariables(EVERYWHERE) };
  const own = (await keysAround(cwd, careful)).flatMap((key): [string, string][] => {
    const instead = PROGRAMS.find(([pattern]) => pattern.test(fold(key)))?.[1];
    if (instead === undefined) return [];
    return [typeof instead === "string" ? [key, instead] : instead];
  });
  return { ...VARIABLES, ...asVariables([...EVERYWHERE, ...own]) };
}

/** Git ignores the case of a key's first and last part, and tells it in lower case. */
const fold = (key: string): string => key.toLowerCase();

function asVariables(settings: [key: string, value: string][]): Environment {
  const env: Environment = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [n, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${n}`] = key;
    env[`GIT_CONFIG_VALUE_${n}`] = value;
  }
  return env;
}

const run = promisify(execFile);

/** The keys that the repository itself sets, with what it includes. */
async function keysAround(cwd: string, env: Environment): Promise<string[]> {
  if (!isInRepository(cwd)) return [];
  try {
    const list = ["config", "--list", "--name-only", "--show-scope", "-z"];
    const { stdout } = await run("git", list, { cwd, env, maxBuffer: 64 * 1024 * 1024, timeout: 10_000 });
    const words = stdout.split("\0");
    const keys = new Set<string>();
    for (let n = 0; n + 1 < words.length; n += 2) {
      if (words[n] === "local" || words[n] === "worktree") keys.add(words[n + 1]!);
    }
    return [...keys];
  } catch {
    // Without git there is nothing to keep it from, and what git can't read, it won't obey.
    return [];
  }
}

/** Who the user is for git, as a configuration file: for where the home can't be read. */
export async function gitIdentity(path: string): Promise<string> {
  const env = { ...process.env, PATH: path };
  const line = async (name: string): Promise<string> => {
    const { stdout } = await run("git", ["config", "--global", "--get", `user.${name}`], { env }).catch(() => ({
      stdout: "",
    }));
    // The words of a configuration file are quoted almost as in JSON.
    return stdout.trim() === "" ? "" : `\t${name} = ${JSON.stringify(stdout.trim())}\n`;
  };
  return `[user]\n${(await Promise.all(["name", "email"].map(line))).join("")}`;
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}
