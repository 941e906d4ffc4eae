import { mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import type { PathRuleLists } from "@cinch/core/workspace";
import { isWithin } from "../paths.ts";
import { CommandGuard } from "../processes/command-guard.ts";
import { pathOutside, programOn } from "../processes/host-programs.ts";
import type { Launch } from "../processes/launch.ts";
import { runProcess } from "../processes/run-process.ts";
import { type Additions, commandEnvironment, withAdditions } from "./environment.ts";
import { untrustedRepository } from "./git.ts";
import { running } from "./running.ts";
import type { ShellCommand, Protection, Running, Shell, ShellBounds } from "./shell.ts";

/** Changes how commands are started. */
export interface Wrapping {
  protection(): Promise<Protection>;
  open(bounds: ShellBounds): Promise<void>;
  /** `rules`: those of the command. */
  wrap(launch: Launch, rules: PathRuleLists): Promise<Launch>;
  close(): Promise<void>;
}

export interface ProcessShellOptions {
  name: string;
  /** The folder that is "/" of the workspace. */
  root: string;
  /** Variables for commands, in addition to those of the harness that are no secrets. */
  env?: Additions;
  /** Whether git obeys what repositories configure: hooks, filters, aliases and so on. */
  trusted?: boolean;
  wrapping?: Wrapping;
}

export const NO_PROTECTION: Protection = {
  kind: "none",
  description: "Commands run as you, without a sandbox: they can read, change and send whatever you can.",
};

/** A shell whose commands are processes of this machine. */
export function processShell({ name, root, env, trusted = false, wrapping }: ProcessShellOptions): Shell {
  const guard = new CommandGuard();
  const alive = new Set<Running>();
  let folder: Promise<string> | undefined;
  let closing: Promise<void> | undefined;

  const ownFolder = (): Promise<string> =>
    (folder ??= mkdtemp(join(tmpdir(), "cinch-shell-")).then(async (path) => {
      guard.addFolder(path);
      return realpath(path);
    }));

  const prepare = async (command: ShellCommand): Promise<Launch> => {
    if (closing) throw new Error("This shell is closed.");
    const cwd = await folderInside(root, command.cwd);
    const inherited = commandEnvironment(process.env);
    const hostPath = pathOutside(inherited.PATH ?? "", root);
    const isTrusted = trusted || command.trusted;
    const git = isTrusted ? {} : await untrustedRepository(cwd, { ...inherited, PATH: hostPath });
    const all = withAdditions({ ...inherited, ...git }, env);
    // Bash, because models write bash.
    const shell = programOn(`${pathOutside(all.PATH ?? "", root)}:/bin:/usr/bin`, "bash") ?? "/bin/sh";
    const argv = [shell, "-c", command.command];
    const launch = { argv, env: all, cwd, guard, shell, hostPath, folder: await ownFolder() };
    return wrapping ? wrapping.wrap(launch, command.rules ?? []) : launch;
  };

  const close = async () => {
    await Promise.all([...alive].map((one) => one.stop()));
    guard.close();
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
        run: async (run) => runProcess(run, await prepare(command), options),
        onEnd: () => alive.delete(one),
      });
      alive.add(one);
      return one;
    },
    close: () => (closing ??= close()),
  };
}

/** The real folder of a path of the workspace. */
async function folderInside(root: string, path: string): Promise<string> {
  const top = await realpath(root).catch((cause: unknown) => {
    throw new Error("The folder of this workspace does not exist any more.", { cause });
  });
  const real = await realpath(join(top, posix.normalize(`/${path}`))).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory())
    throw new Error(`There is no folder ${path} to run it in.`);
  if (!isWithin(real, top)) throw new Error(`${path} is outside the workspace. Commands run only inside of it.`);
  return real;
}
