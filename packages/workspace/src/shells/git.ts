import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "./environment.ts";

/** Settings for every repository, whatever its own configuration says. */
const EVERYWHERE: [key: string, value: string][] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["credential.helper", ""],
  ["protocol.ext.allow", "never"],
  // Otherwise any clone could bring a folder that git takes for a repository, and obey its configuration.
  ["safe.bareRepository", "explicit"],
];

const VARIABLES = { GIT_ASKPASS: "", GIT_SSH_COMMAND: "ssh -oBatchMode=yes" };

/** Does what git does without a diff program. Git passes the path, the old file, its hash, its mode and the new file. */
const PLAIN_DIFF = `f() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5"; :; }; f`;

/** Keys that name a program, and harmless values for them. Parts of the keys are chosen by the repository, so its keys are read first. */
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
  // Git takes the first value of these keys, so they can't be overridden. The protocols that run them are disabled instead.
  [/^remote\..+\.(uploadpack|receivepack)$/, ["protocol.file.allow", "never"]],
  [/^core\.gitproxy$/, ["protocol.git.allow", "never"]],
];

/**
 * Variables that keep git from running hooks and programs that a repository configures. For the repository around `cwd` they cover
 * everything; for others that a command enters (a submodule, `git -C`) only settings with fixed keys.
 */
export async function untrustedRepository(cwd: string, env: Environment): Promise<Environment> {
  const safe = { ...env, ...VARIABLES, ...asVariables(EVERYWHERE) };
  const own = (await keysAround(cwd, safe)).flatMap((key): [string, string][] => {
    // Git ignores the case of the first and the last part of a key.
    const instead = PROGRAMS.find(([pattern]) => pattern.test(key.toLowerCase()))?.[1];
    if (instead === undefined) return [];
    return [typeof instead === "string" ? [key, instead] : instead];
  });
  return { ...VARIABLES, ...asVariables([...EVERYWHERE, ...own]) };
}

function asVariables(settings: [key: string, value: string][]): Environment {
  const env: Environment = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [n, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${n}`] = key;
    env[`GIT_CONFIG_VALUE_${n}`] = value;
  }
  return env;
}

const run = promisify(execFile);

/** The keys that the repository itself sets, also by files that it includes. */
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
    // There is no git, or it can't read the configuration, and then it does not obey it either.
    return [];
  }
}

/** A configuration file with the name and email of the user, for sandboxes without the home. */
export async function gitIdentity(path: string): Promise<string> {
  const env = { ...process.env, PATH: path };
  const line = async (name: string): Promise<string> => {
    const { stdout } = await run("git", ["config", "--global", "--get", `user.${name}`], { env }).catch(() => ({
      stdout: "",
    }));
    // Quoted strings of a configuration file are almost JSON.
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
