#!/usr/bin/env node
import { commandOf } from "./args.ts";
import type { CliCommand } from "./cli-command.ts";
import { keepCompiledCode } from "./compile-cache.ts";
import { messageOf } from "./error-message.ts";
import { ExitCode, UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";
import { plain } from "./terminal/sanitise.ts";

// Each command imports its own modules, so that the others start quickly.
async function perform(command: CliCommand): Promise<number> {
  switch (command.kind) {
    case "app":
      return (await import("./start-app.ts")).startApp(command.options);
    case "run":
      return (await import("./run/run.ts")).run(command.options);
    case "threads list":
      return (await import("./threads/list-threads.ts")).listThreads(command.options);
    case "threads show":
      return (await import("./threads/write-thread.ts")).showThread(command.options);
    case "threads export":
      return (await import("./threads/write-thread.ts")).exportThread(command.options);
    case "threads delete":
      return (await import("./threads/delete-thread.ts")).deleteThreadCommand(command.options);
    case "pending":
      return (await import("./pending/list-pending.ts")).listPending(command.options);
    case "answer":
      return (await import("./pending/answer.ts")).answer(command.options);
    case "abort":
      return (await import("./pending/abort-thread.ts")).abortThread(command.options);
    case "acp":
      return (await import("./acp/acp.ts")).acp(command.options);
    case "doctor":
      return (await import("./doctor/doctor.ts")).doctor(command.options);
    case "serve":
      return (await import("./serve/serve.ts")).serve(command.options);
    case "token list":
      return (await import("./serve/token-command.ts")).listTokens(command.options);
    case "token add":
      return (await import("./serve/token-command.ts")).addToken(command.options);
    case "token revoke":
      return (await import("./serve/token-command.ts")).revokeToken(command.options);
    case "completion":
      return print((await import("./completion/completion-script.ts")).completionScript(command.shell));
    case "complete":
      return (await import("./completion/complete.ts")).complete(command.words);
    case "torture":
      return (await import("./torture.ts")).tortureCommand();
    case "help":
      return print((await import("./help.ts")).helpOf(command.topic));
    case "version":
      return print(`${(await import("./version.ts")).version()}\n`);
  }
}

/** Without a current folder, Node can't even start the thread that writes the database. */
function checkFolder({ kind }: CliCommand): void {
  if (kind === "help" || kind === "version" || kind === "completion" || kind === "complete") return;
  try {
    process.cwd();
  } catch (cause) {
    throw new UsageError("The current folder does not exist any more. Go to one that does: cd ~", { cause });
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return ExitCode.complete;
}

keepCompiledCode(process.env);

// A stdout that can't be written ends a run (see run/shutdown.ts), and must not print a stack trace. That its reader has gone needs no word.
let outputCode: number = ExitCode.complete;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  const isReaderGone = error.code === "EPIPE" || process.stdout.isTTY;
  outputCode = isReaderGone ? ExitCode.pipeClosed : ExitCode.error;
  if (!isReaderGone) process.stderr.write(`cinch: stdout can't be written: ${plain(error.message)}\n`);
});
// A closed stderr is no reason to stop.
process.stderr.on("error", () => undefined);
process.on("exit", (code) => {
  if (code === ExitCode.complete) process.exitCode = outputCode;
});

try {
  const command = commandOf(process.argv.slice(2));
  checkFolder(command);
  process.exitCode = await perform(command);
} catch (error) {
  process.exitCode = error instanceof UsageError ? ExitCode.usage : ExitCode.error;
  const hint = error instanceof UsageError ? `\nRun ${cinch} --help for all commands and options.` : "";
  process.stderr.write(`cinch: ${plain(messageOf(error))}${hint}\n`);
}
