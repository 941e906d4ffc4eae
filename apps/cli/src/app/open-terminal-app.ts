import { stdin, stdout } from "node:process";
import { systemClock } from "@cinch/core";
import type { AppOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { openProject } from "../setup/open-project.ts";
import { userFolders } from "../setup/user-folders.ts";
import { featuresOf } from "../terminal/features.ts";
import { ttyInput, TtyOutput } from "../terminal/tty.ts";
import { appCommands } from "./commands/index.ts";
import { runInTerminal } from "./run-in-terminal.ts";
import { askTrust } from "./trust-question.ts";

/** `cinch` in a terminal. Returns the exit code. */
export async function openTerminalApp({ thread, flags }: Pick<AppOptions, "thread" | "flags">): Promise<number> {
  const { env } = process;
  const place = { folder: process.cwd(), env };
  const gone = new AbortController();
  const output = new TtyOutput(stdout, { onError: () => gone.abort() });
  const bare = { terminal: { input: ttyInput(stdin), output }, clock: systemClock, features: featuresOf(env) };
  const trusted = await askTrust(place, bare);
  if (trusted === undefined) return ExitCode.aborted;
  const project = await openProject({ ...place, flags, trusted });
  return runInTerminal({
    ...bare,
    project,
    thread,
    commands: appCommands,
    env,
    stateFolder: userFolders(env).state,
    gone: gone.signal,
  });
}
