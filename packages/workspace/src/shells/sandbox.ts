import { existsSync, lstatSync, rmSync } from "node:fs";
import { mkdir, readdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CinchError } from "@cinch/core";
import { bwrapSandbox } from "../sandboxes/bwrap.ts";
import type { Sandbox, SandboxBounds, SandboxRule } from "../sandboxes/sandbox.ts";
import { srtSandbox } from "../sandboxes/srt.ts";
import type { Shell } from "../shell.ts";
import type { Additions } from "./environment.ts";
import { gitIdentity } from "./git.ts";
import { MARK } from "./leash.ts";
import { NO_PROTECTION, processShell, type Wrapping } from "./process.ts";

export interface SandboxShellOptions {
  /** The folder that is "/" of the workspace. */
  root: string;
  env?: Additions;
  /** Whether git obeys what the workspace's repositories configure. */
  trusted?: boolean;
  /** "auto": the first that works here, and none if there is none, which `protection` then says. It is closed with the shell. */
  sandbox?: "auto" | Sandbox;
  /** Hosts that commands may reach ("registry.npmjs.org", "*.example.com"). Without any there is no network. */
  hosts?: readonly string[];
  /** Real files and folders outside of the root that commands may read. */
  readable?: readonly string[];
  /** Real files and folders that they may not, such as where the harness keeps its store. */
  hidden?: readonly string[];
  /** The path rules of the workspace, as far as a sandbox can keep them: see `SandboxBounds`. */
  permissions?: readonly SandboxRule[];
}

/** Where the harness keeps its store if it is in the workspace, beside things that commands may read. */
const STORE = { folder: ".cinch", file: /\.db(-\w+)?$/ };

/** In the temporary folder: what git knows of the user, whose home is not there. */
const GIT_CONFIG = ".gitconfig";

/**
 * Runs inside of the sandbox, around the command: gives what it left running a moment to end, before the sandbox ends with everything
 * in it, and leaves a note if that did not help.
 */
const AROUND = `
trap : HUP INT TERM
export GIT_CONFIG_GLOBAL="$TMPDIR/${GIT_CONFIG}"
exec 3>&2 2>/dev/null
processes() { set -- /proc/[0-9]*; echo $#; }
alone=$(processes)
"$@" 2>&3 3>&-
code=$?
for look in 1 2 3 4 5 6 7 8 9 10; do
  [ "$(processes)" -gt "$alone" ] || exit $code
  sleep 0.05
done
: > "$TMPDIR/.left-\${${MARK}##* }"
exit $code
`;

/** The local shell, through a sandbox. */
export function sandboxShell(options: SandboxShellOptions): Shell {
  if (options.root === "/") {
    throw new CinchError("INVALID_CONFIG", "A sandbox can't keep commands inside of /: give it a folder as its root.");
  }
  const { root, env, trusted } = options;
  return processShell({ name: "sandbox", root, env, trusted, wrapping: sandboxed(options) });
}

function sandboxed(options: SandboxShellOptions): Wrapping {
  const { sandbox = "auto", hosts = [], hidden = [], readable = [], permissions = [] } = options;
  let furnished: Promise<void> | undefined;
  let chosen: Promise<Choice> | undefined;
  const choice = () => (chosen ??= sandbox === "auto" ? choose(hosts) : demand(sandbox));

  const boundsIn = async (folder: string): Promise<SandboxBounds> => {
    await (furnished ??= furnish(folder));
    const root = await realpath(options.root);
    const store = await readdir(join(root, STORE.folder)).catch(() => []);
    return {
      root,
      tmp: join(folder, "tmp"),
      home: join(folder, "home"),
      hosts,
      readable,
      hidden: [
        ...hidden,
        ...store.filter((name) => STORE.file.test(name)).map((name) => join(root, STORE.folder, name)),
      ],
      rules: permissions,
    };
  };

  return {
    async protection() {
      const { found, reasons } = await choice();
      if (found) return { kind: "os", description: found.describe({ hosts, rules: permissions }) };
      return { kind: "none", description: `${NO_PROTECTION.description} There is no sandbox: ${reasons.join(" ")}` };
    },
    async wrap(launch) {
      const { found } = await choice();
      if (!found) return launch;
      const bounds = await boundsIn(launch.folder);
      const { argv, env, cwd, shell } = launch;
      const tidy = tidied(bounds.root);
      const { done, ...line } = await found.wrap({ argv: [shell, "-c", AROUND, shell, ...argv], env, cwd }, bounds);
      return {
        ...launch,
        ...line,
        done(mark) {
          done?.();
          tidy();
          return existsSync(join(bounds.tmp, `.left-${mark}`));
        },
      };
    },
    async close() {
      // One that was asked for and does not work has nothing to close.
      const { found } = (await chosen?.catch(() => undefined)) ?? {};
      await found?.close?.();
    },
  };
}

interface Choice {
  found: Sandbox | undefined;
  /** Why the others are not. */
  reasons: string[];
}

/** Only one of them can tell hosts apart; the other needs no package and starts faster. */
async function choose(hosts: readonly string[]): Promise<Choice> {
  const reasons: string[] = [];
  const known = [bwrapSandbox(), srtSandbox()];
  for (const sandbox of hosts.length > 0 ? known.toReversed() : known) {
    const probe = await sandbox.probe();
    if (probe.works) return { found: sandbox, reasons };
    reasons.push(probe.reason);
  }
  return { found: undefined, reasons };
}

/** Somebody wanted this one, so that running without it would be no answer. */
async function demand(sandbox: Sandbox): Promise<Choice> {
  const probe = await sandbox.probe();
  if (!probe.works) throw new CinchError("INVALID_CONFIG", probe.reason);
  return { found: sandbox, reasons: [] };
}

/**
 * A file in a repository can send git to another one's configuration. No mount can keep what is not there from being made, so it is
 * taken away when the command is over.
 */
function tidied(root: string): () => void {
  const file = join(root, ".git", "commondir");
  const folder = lstatSync(join(root, ".git"), { throwIfNoEntry: false })?.isDirectory() ?? false;
  return folder && !existsSync(file) ? () => rmSync(file, { recursive: true, force: true }) : () => {};
}

/** Places for what commands keep. */
async function furnish(folder: string): Promise<void> {
  await Promise.all(["tmp", "home"].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, "tmp", GIT_CONFIG), await gitIdentity());
}
