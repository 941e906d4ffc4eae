import { stdin, stdout } from "node:process";
import { systemClock } from "@cinch/core";
import type { AppOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { openProject } from "../setup/open-project.ts";
import { userFolders } from "../setup/user-folders.ts";
import { featuresOf } from "../terminal/features.ts";
import { text } from "../terminal/line.ts";
import { ttyInput, TtyOutput } from "../terminal/tty.ts";
import { tourInTerminal } from "../tour/tour-in-terminal.ts";
import { bareDialog } from "./bare-dialog.ts";
import { appCommands } from "./commands/index.ts";
import { greetingOf } from "./greeting.ts";
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
    const answer = await welcome({
      greeting,
      ask,
      dialog: bareDialog(ask, (message) => output.writeNow(`${text(message)}\r\n`)),
      env,
    });
    if (answer !== "start") await project.close();
    if (answer === undefined) return ExitCode.aborted;
    if (answer === "key") return openTerminalApp(options);
    if (answer === "tour") return takeTour(options, { ...bare, env, commands: appCommands, gone: gone.signal });
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

/** Afterwards the first screen is there again. */
async function takeTour(options: Options, terminal: Parameters<typeof tourInTerminal>[0]): Promise<number> {
  const code = await tourInTerminal(terminal);
  return code === ExitCode.complete ? openTerminalApp(options) : code;
}
