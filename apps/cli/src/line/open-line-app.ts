import { stdin, stdout } from "node:process";
import { systemClock } from "@cinch/core";
import { appCommands } from "../app/commands/index.ts";
import { greetingOf } from "../app/greeting.ts";
import { askTrust } from "../app/trust-question.ts";
import { welcome, type Welcome } from "../app/welcome.ts";
import type { AppOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { openProject } from "../setup/open-project.ts";
import { featuresOf } from "../terminal/features.ts";
import { tourWithoutQuestions } from "../tour/tour-without-questions.ts";
import { BareLines } from "./bare-lines.ts";
import { LineOutput } from "./line-output.ts";
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
  const answer: Welcome = isFirst
    ? await askBefore(lines, ({ ask, dialog }) => welcome({ greeting, ask, dialog, env }))
    : "start";
  if (answer !== "start") await project.close();
  if (answer === undefined) return ExitCode.aborted;
  if (answer === "tour")
    await tourWithoutQuestions((one) => new LineOutput({ ...lines, sink: output, echoes: true }).say(one));
  if (answer !== "start") return openLineApp(options);
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
