import { stdin, stdout } from "node:process";
import { systemClock } from "@cinch/core";
import type { AppOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { openProject } from "../setup/open-project.ts";
import type { Project } from "../setup/project.ts";
import { userFolders } from "../setup/user-folders.ts";
import { featuresOf } from "../terminal/features.ts";
import { line, type Line } from "../terminal/line.ts";
import { ttyInput, TtyOutput } from "../terminal/tty.ts";
import { version } from "../version.ts";
import { addKey } from "./add-key.ts";
import { appCommands } from "./commands/index.ts";
import { runInTerminal } from "./run-in-terminal.ts";
import { showPanel, type AskPanel } from "./show-panel.ts";
import { askTrust } from "./trust-question.ts";
import { welcome } from "./welcome.ts";

type Options = Pick<AppOptions, "thread" | "flags">;

/** `cinch` in a terminal. Returns the exit code. */
export async function openTerminalApp(options: Options): Promise<number> {
  const { thread, flags } = options;
  const { env } = process;
  const place = { folder: process.cwd(), env };
  const gone = new AbortController();
  const output = new TtyOutput(stdout, { onError: () => gone.abort() });
  const bare = { terminal: { input: ttyInput(stdin), output }, clock: systemClock, features: featuresOf(env) };
  const ask: AskPanel = (panel, first) => showPanel(bare, panel, first);
  const trusted = await askTrust(place, ask);
  if (trusted === undefined) return ExitCode.aborted;
  const project = await openProject({ ...place, flags, trusted });
  const greeting = greetingOf(project);
  if (project.model.fallback && thread.kind === "new") {
    const answer = await welcome(ask, { greeting, addKey: () => addKey(bare, env), hasTour: false });
    if (answer === "key" || answer === undefined) await project.close();
    if (answer === undefined) return ExitCode.aborted;
    if (answer === "key") return openTerminalApp(options);
  }
  return runInTerminal({
    ...bare,
    project,
    thread,
    commands: appCommands,
    env,
    stateFolder: userFolders(env).state,
    greeting: [greeting],
    gone: gone.signal,
  });
}

export function greetingOf({ folder, env, model }: Project): Line {
  const { home } = userFolders(env);
  const shown = folder === home || folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
  const offline = model.fallback ? " · no API key: the offline model answers" : "";
  return line(`cinch ${version()} · ${shown}${offline}`, { dim: true });
}
