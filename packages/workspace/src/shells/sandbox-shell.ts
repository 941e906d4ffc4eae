import { existsSync } from "node:fs";
import { mkdir, open, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CinchError } from "@cinch/core";
import { checkConfig } from "../config.ts";
import { realPathOf } from "../disk/on-disk.ts";
import { makePlaceholders, recordLinks, removePlaceholders } from "../frozen/placeholders.ts";
import { isWithin } from "../paths.ts";
import { MARK } from "../processes/command-guard.ts";
import type { Launch } from "../processes/launch.ts";
import { bwrapSandbox } from "../sandboxes/bwrap.ts";
import type { Sandbox, SandboxBounds, SandboxRule } from "../sandboxes/sandbox.ts";
import { srtSandbox } from "../sandboxes/srt.ts";
import { gitIdentity } from "./git.ts";
import type { LocalShellOptions } from "./local-shell.ts";
import { NO_PROTECTION, processShell, type Wrapping } from "./process-shell.ts";
import type { Shell, ShellBounds } from "./shell.ts";

export interface SandboxShellOptions extends LocalShellOptions {
  /** "auto": the first that works here; if none works, `protection` says so. It is closed with the shell. */
  sandbox?: "auto" | Sandbox;
  /** Hosts that commands may reach ("api.example.com", "*.example.com"). Without any there is no network. */
  hosts?: readonly string[];
  /** Real files and folders outside of the root that commands may read. */
  readable?: readonly string[];
  /** Real files and folders that commands must not reach, such as the store. */
  hidden?: readonly string[];
  /** Path rules, see `SandboxBounds`. A workspace passes its own when it is opened. */
  permissions?: readonly SandboxRule[];
}

/** The configuration of git for commands, in their temporary folder: the home of the user is not visible. */
const GIT_CONFIG = ".gitconfig";

/** Runs in the sandbox, around the command. Gives what it left running a moment to end, and leaves a file if some did not. */
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

/** Runs commands as processes in a sandbox. */
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
  let prepared: Promise<void> | undefined;
  let hasPlaceholders = false;
  let chosen: Promise<Choice> | undefined;
  const choice = () => (chosen ??= choose(options.root, sandbox, hosts));

  const boundsIn = async ({ folder, hostPath }: Launch, more: SandboxBounds["rules"]): Promise<SandboxBounds> => {
    await (prepared ??= prepare(folder, hostPath));
    const root = await realpath(options.root);
    await reserve(given.hidden, root);
    hasPlaceholders = makePlaceholders(root) || hasPlaceholders;
    const hidden = [...(options.hidden ?? []), ...given.hidden];
    const all = [rules(), ...more];
    return { root, tmp: join(folder, "tmp"), home: join(folder, "home"), hosts, readable, hidden, rules: all };
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
        const description = found.describe({ hosts, rules: [rules()] });
        return { kind: "os", description, ownNetwork, rulesPerCommand: true };
      }
      return { kind: "none", description: `${NO_PROTECTION.description} There is no sandbox: ${reasons.join(" ")}` };
    },
    async wrap(launch, more) {
      const { found } = await choice();
      if (!found) return launch;
      const bounds = await boundsIn(launch, more);
      const { argv, env, cwd, shell } = launch;
      const restoreLinks = recordLinks(bounds.root);
      const { done, ...line } = await found.wrap({ argv: [shell, "-c", AROUND, shell, ...argv], env, cwd }, bounds);
      return {
        ...launch,
        ...line,
        onDone(mark) {
          done?.();
          restoreLinks();
          return existsSync(join(bounds.tmp, `.left-${mark}`));
        },
      };
    },
    async close() {
      // A sandbox that was demanded and does not work has nothing to close.
      const { found } = (await chosen?.catch(() => undefined)) ?? {};
      await found?.close?.();
      if (hasPlaceholders) removePlaceholders(options.root);
    },
  };
}

interface Choice {
  found: Sandbox | undefined;
  /** Why the others don't work. */
  reasons: string[];
}

/** A sandbox that was asked for must work. Of the others, bubblewrap needs no package and starts faster, but can't tell hosts apart. */
async function choose(root: string, asked: "auto" | Sandbox, hosts: readonly string[]): Promise<Choice> {
  const reasons: string[] = [];
  const known = hosts.length > 0 ? [srtSandbox(), bwrapSandbox()] : [bwrapSandbox(), srtSandbox()];
  for (const sandbox of asked === "auto" ? known : [asked]) {
    const probe = await sandbox.probe(root);
    if (probe.works) return { found: sandbox, reasons };
    reasons.push(probe.reason);
  }
  if (asked !== "auto") throw new CinchError("INVALID_CONFIG", reasons.join(" "));
  return { found: undefined, reasons };
}

/** Reserves hidden files that are missing: a mount does not, and a file beside a database can change what the database contains. */
async function reserve(hidden: readonly string[], root: string): Promise<void> {
  for (const path of hidden) {
    if (!isWithin(await realPathOf(path), root)) continue;
    const file = await open(path, "ax", 0o600).catch(() => undefined);
    await file?.close();
  }
}

async function prepare(folder: string, hostPath: string): Promise<void> {
  await Promise.all(["tmp", "home"].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, "tmp", GIT_CONFIG), await gitIdentity(hostPath));
}
