import { mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix, sep } from "node:path";
import { pathOutside, programOn } from "../processes/host-programs.ts";
import type { Command, Protection, Running, Shell, ShellBounds } from "./shell.ts";
import { type Additions, commandEnvironment, withAdditions } from "./environment.ts";
import { strangeRepository } from "./git.ts";
import type { Launch } from "../processes/launch.ts";
import { Leash } from "../processes/leash.ts";
import { lead } from "../processes/lead.ts";
import { running } from "./running.ts";

/** What is put around a command before it becomes a process. */
export interface Wrapping {
  protection(): Promise<Protection>;
  open(bounds: ShellBounds): Promise<void>;
  wrap(launch: Launch): Promise<Launch>;
  close(): Promise<void>;
}

export interface ProcessShellOptions {
  name: string;
  /** The folder that is "/" of the workspace. */
  root: string;
  /** What commands get in addition to the few variables of the harness that are no secrets. */
  env?: Additions;
  /** Whether git obeys what the workspace's repositories configure: hooks, filters, aliases and the like. */
  trusted?: boolean;
  wrapping?: Wrapping;
}

export const NO_PROTECTION: Protection = {
  kind: "none",
  description: "Commands run as you, without a sandbox: they can read, change and send whatever you can.",
};

/** A shell whose commands are processes of this machine. */
export function processShell({ name, root, env, trusted = false, wrapping }: ProcessShellOptions): Shell {
  const leash = new Leash();
  const alive = new Set<Running>();
  let folder: Promise<string> | undefined;
  let closing: Promise<void> | undefined;

  const ownFolder = (): Promise<string> =>
    (folder ??= mkdtemp(join(tmpdir(), "cinch-shell-")).then(async (path) => {
      leash.keep(path);
      return realpath(path);
    }));

  const prepare = async (command: Command): Promise<Launch> => {
    if (closing) throw new Error("This shell is closed.");
    const cwd = await folderInside(root, command.cwd);
    const inherited = commandEnvironment(process.env);
    const hostPath = pathOutside(inherited.PATH ?? "", root);
    const careful = () => strangeRepository(cwd, { ...inherited, PATH: hostPath });
    const git = trusted || command.trusted ? {} : await careful();
    const all = withAdditions({ ...inherited, ...git }, env);
    // Bash, because that is what models write.
    const shell = programOn(`${pathOutside(all.PATH ?? "", root)}:/bin:/usr/bin`, "bash") ?? "/bin/sh";
    const argv = [shell, "-c", command.command];
    const launch = { argv, env: all, cwd, leash, shell, hostPath, folder: await ownFolder() };
    return wrapping ? wrapping.wrap(launch) : launch;
  };

  const close = async () => {
    await Promise.all([...alive].map((one) => one.stop()));
    leash.close();
    await wrapping?.close();
    if (folder) await rm(await folder, { recursive: true, force: true });
  };

  const { HOME: home } = withAdditions(commandEnvironment(process.env), env);
  return {
    name,
    root,
    ...(home !== undefined && { home }),
    ...(wrapping && { open: (bounds: ShellBounds) => wrapping.open(bounds) }),
    protection: async () => (wrapping ? wrapping.protection() : NO_PROTECTION),
    start(command, sink, options) {
      const one: Running = running({
        command,
        sink,
        live: async (life) => lead(life, await prepare(command), options),
        onEnd: () => alive.delete(one),
      });
      alive.add(one);
      return one;
    },
    close: () => (closing ??= close()),
  };
}

/** The real folder that a path of the workspace means. */
async function folderInside(root: string, path: string): Promise<string> {
  const top = await realpath(root);
  const real = await realpath(join(top, posix.normalize(`/${path}`))).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory())
    throw new Error(`There is no folder ${path} to run it in.`);
  if (real !== top && !real.startsWith(top === sep ? sep : top + sep)) {
    throw new Error(`${path} leads out of the workspace, and commands run only inside.`);
  }
  return real;
}
