import { stdin, stdout } from "node:process";
import { systemClock } from "@cinch/core";
import { appCommands } from "../app/commands/index.ts";
import { greetingOf } from "../app/open-terminal-app.ts";
import { askTrust } from "../app/trust-question.ts";
import { welcome, type Welcome } from "../app/welcome.ts";
import type { AppOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { addKey } from "../setup/add-key.ts";
import { openProject } from "../setup/open-project.ts";
import { featuresOf } from "../terminal/features.ts";
import { BareLines } from "./bare-lines.ts";
import { runInLines } from "./run-in-lines.ts";
import { stdinLines } from "./stdio-lines.ts";

type Options = Pick<AppOptions, "thread" | "flags">;

/** `cinch --plain`, or `cinch` in a terminal for lines. Returns the exit code. */
export async function openLineApp(options: Options): Promise<number> {
  const { thread, flags } = options;
  const { env } = process;
  const place = { folder: process.cwd(), env };
  const gone = new AbortController();
  stdout.on("error", () => gone.abort());
  const output = { write: (text: string) => void stdout.write(text) };
  const lines = { input: stdinLines(stdin), output, unicode: featuresOf(env).unicode, clock: systemClock };
  const trusted = await askBefore(lines, ({ ask }) => askTrust(place, ask));
  if (trusted === undefined) return ExitCode.aborted;
  const project = await openProject({ ...place, flags, trusted });
  const greeting = greetingOf(project);
  const isFirst = project.model.fallback && thread.kind === "new" && lines.input.setRaw !== undefined;
  const answer: Welcome = !isFirst
    ? "start"
    : await askBefore(lines, ({ ask, dialog }) =>
        welcome(ask, { greeting, addKey: async () => Boolean(await addKey(dialog, env)), hasTour: false }),
      );
  if (answer === "key" || answer === undefined) await project.close();
  if (answer === undefined) return ExitCode.aborted;
  if (answer === "key") return openLineApp(options);
  return runInLines({
    ...lines,
    project,
    thread,
    commands: appCommands,
    env,
    greeting: isFirst ? [] : [greeting],
    gone: gone.signal,
  });
}

async function askBefore<T>(
  lines: ConstructorParameters<typeof BareLines>[0],
  ask: (bare: BareLines) => Promise<T>,
): Promise<T> {
  using bare = new BareLines(lines);
  return await ask(bare);
}
