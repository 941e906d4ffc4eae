#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { commandOf, type Command } from "./args.ts";
import { Exit, UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";
import { plain } from "./terminal/plain.ts";

// What a command needs is loaded with it: the start of the others stays quick.
async function perform(command: Command): Promise<number> {
  switch (command.kind) {
    case "help":
      process.stdout.write((await import("./help.ts")).help);
      return Exit.complete;
    case "version":
      process.stdout.write(`${version()}\n`);
      return Exit.complete;
    case "demo":
      return (await import("./demo/demo.ts")).demo();
    case "torture":
      return (await import("./torture.ts")).torture();
    case "run":
      return (await import("./run.ts")).run(command.options);
  }
}

function version(): string {
  const { version: number } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return number;
}

// Halves the time that a start takes, from the second on.
enableCompileCache();

// A reader that went away ends a run (see stops.ts); it is no reason for a stack trace anywhere.
process.stdout.on("error", () => undefined);
// Notices that nobody can read any more are no reason to stop.
process.stderr.on("error", () => undefined);

try {
  process.exitCode = await perform(commandOf(process.argv.slice(2)));
} catch (error) {
  process.exitCode = error instanceof UsageError ? Exit.usage : Exit.error;
  const hint = error instanceof UsageError ? `\n${cinch} --help tells more.` : "";
  process.stderr.write(`cinch: ${plain(error instanceof Error ? error.message : String(error))}${hint}\n`);
}
