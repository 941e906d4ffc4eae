import { existsSync } from "node:fs";
import { mkdir, open, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CinchError } from "@cinch/core";
import { checkConfig } from "../config.ts";
import { holdFrozen, releaseFrozen, rememberLinks } from "../frozen/holding.ts";
import { bwrapSandbox } from "../sandboxes/bwrap.ts";
import { realPathOf } from "../disk/real-path.ts";
import type { Sandbox, SandboxBounds, SandboxRule } from "../sandboxes/sandbox.ts";
import { srtSandbox } from "../sandboxes/srt.ts";
import { isIn } from "../sandboxes/view.ts";
import type { Shell, ShellBounds } from "../shell.ts";
import type { Additions } from "./environment.ts";
import { gitIdentity } from "./git.ts";
import type { Launch } from "./launch.ts";
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
  /** Hosts that commands may reach ("api.example.com", "*.example.com"). Without any there is no network. */
  hosts?: readonly string[];
  /** Real files and folders outside of the root that commands may read. */
  readable?: readonly string[];
  /** Real files and folders that they may not, such as where the harness keeps its store. */
  hidden?: readonly string[];
  /** Path rules, as far as a sandbox can keep them: see `SandboxBounds`. A workspace hands its own over when it is opened. */
  permissions?: readonly SandboxRule[];
}

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
  checkConfig("sandboxShell", options);
  if (options.root === "/") {
    throw new CinchError("INVALID_CONFIG", "A sandbox can't keep commands inside of /: give it a folder as its root.");
  }
  const { root, env, trusted } = options;
  return processShell({ name: "sandbox", root, env, trusted, wrapping: sandboxed(options) });
}

function sandboxed(options: SandboxShellOptions): Wrapping {
  const { sandbox = "auto", hosts = [], readable = [], permissions = [] } = options;
  let given: ShellBounds = { rules: [], hidden: [] };
  const rules = (): SandboxRule[] => [...permissions, ...given.rules];
  let furnished: Promise<void> | undefined;
  let isHeld = false;
  let chosen: Promise<Choice> | undefined;
  const choice = () => (chosen ??= sandbox === "auto" ? choose(options.root, hosts) : demand(options.root, sandbox));

  const boundsIn = async ({ folder, hostPath }: Launch): Promise<SandboxBounds> => {
    await (furnished ??= furnish(folder, hostPath));
    const root = await realpath(options.root);
    await holdPlaces(root, given.hidden);
    isHeld = holdFrozen(root) || isHeld;
    const hidden = [...(options.hidden ?? []), ...given.hidden];
    return { root, tmp: join(folder, "tmp"), home: join(folder, "home"), hosts, readable, hidden, rules: rules() };
  };

  return {
    async open(bounds) {
      if (permissions.length > 0 && bounds.rules.length > 0) {
        throw new CinchError(
          "INVALID_CONFIG",
          "Give path rules to the workspace, or to its sandboxShell, not to both.",
        );
      }
      given = bounds;
    },
    async protection() {
      const { found, reasons } = await choice();
      if (found) {
        const ownNetwork = found.ownNetwork?.({ hosts }) ?? false;
        return { kind: "os", description: found.describe({ hosts, rules: rules() }), ownNetwork };
      }
      return { kind: "none", description: `${NO_PROTECTION.description} There is no sandbox: ${reasons.join(" ")}` };
    },
    async wrap(launch) {
      const { found } = await choice();
      if (!found) return launch;
      const bounds = await boundsIn(launch);
      const { argv, env, cwd, shell } = launch;
      const tidy = rememberLinks(bounds.root);
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
      if (isHeld) releaseFrozen(options.root);
    },
  };
}

interface Choice {
  found: Sandbox | undefined;
  /** Why the others are not. */
  reasons: string[];
}

/** Only one of them can tell hosts apart; the other needs no package and starts faster. */
async function choose(root: string, hosts: readonly string[]): Promise<Choice> {
  const reasons: string[] = [];
  const known = [bwrapSandbox(), srtSandbox()];
  for (const sandbox of hosts.length > 0 ? known.toReversed() : known) {
    const probe = await sandbox.probe(root);
    if (probe.works) return { found: sandbox, reasons };
    reasons.push(probe.reason);
  }
  return { found: undefined, reasons };
}

/** Somebody wanted this one, so that running without it would be no answer. */
async function demand(root: string, sandbox: Sandbox): Promise<Choice> {
  const probe = await sandbox.probe(root);
  if (!probe.works) throw new CinchError("INVALID_CONFIG", probe.reason);
  return { found: sandbox, reasons: [] };
}

/**
 * No mount can keep what is not there from being made, and a command that makes what a database looks for beside its file has a say in
 * what the database holds. So there is an empty file in its place.
 */
async function holdPlaces(root: string, hidden: readonly string[]): Promise<void> {
  for (const path of hidden) {
    if (!isIn(await realPathOf(path), root)) continue;
    const file = await open(path, "ax", 0o600).catch(() => undefined);
    await file?.close();
  }
}

/** Places for what commands keep. */
async function furnish(folder: string, hostPath: string): Promise<void> {
  await Promise.all(["tmp", "home"].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, "tmp", GIT_CONFIG), await gitIdentity(hostPath));
}
