#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { commandOf, type CliCommand } from "./args.ts";
import { messageOf } from "./error-message.ts";
import { ExitCode, UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";
import { plain } from "./terminal/sanitise.ts";

// Each command imports its own modules, so that the others start quickly.
async function perform(command: CliCommand): Promise<number> {
  switch (command.kind) {
    case "help":
      process.stdout.write((await import("./help.ts")).help);
      return ExitCode.complete;
    case "version":
      process.stdout.write(`${version()}\n`);
      return ExitCode.complete;
    case "demo":
      return (await import("./demo/demo.ts")).demo();
    case "torture":
      return (await import("./torture.ts")).tortureCommand();
    case "run":
      return (await import("./run/run.ts")).run(command.options);
  }
}

function version(): string {
  const { version: number } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return number;
}

// Halves the start time from the second start on.
enableCompileCache();

// A closed stdout ends a run (see run/shutdown.ts), and must not print a stack trace.
process.stdout.on("error", () => undefined);
// A closed stderr is no reason to stop.
process.stderr.on("error", () => undefined);

try {
  process.exitCode = await perform(commandOf(process.argv.slice(2)));
} catch (error) {
  process.exitCode = error instanceof UsageError ? ExitCode.usage : ExitCode.error;
  const hint = error instanceof UsageError ? `\nRun ${cinch} --help for all commands and options.` : "";
  process.stderr.write(`cinch: ${plain(messageOf(error))}${hint}\n`);
}
