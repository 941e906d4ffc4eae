import { existsSync } from "node:fs";
import type { AppOptions } from "./cli-command.ts";
import { UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";
import { isForLines } from "./terminal/features.ts";
import { chosenDatabase, existingDatabase } from "./threads/open-store.ts";

/** `cinch` itself: the app in a terminal; elsewhere the tour, which then asks nothing. */
export async function startApp(options: AppOptions): Promise<number> {
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const isInLines = options.plain || (hasTerminal && isForLines(process.env));
  if (options.thread.kind !== "new") {
    if (!hasTerminal && !isInLines)
      throw new UsageError(`To continue a thread here needs a terminal. Without one: ${cinch} run --continue "…"`);
    checkThreads(options);
  }
  if (isInLines) return (await import("./line/open-line-app.ts")).openLineApp(options);
  if (hasTerminal) return (await import("./app/open-terminal-app.ts")).openTerminalApp(options);
  const { tourWithoutQuestions } = await import("./tour/tour-without-questions.ts");
  return tourWithoutQuestions((line) => process.stdout.write(`${line}\n`));
}

/** A database that came with the folder counts too: the app asks whether to trust it. */
function checkThreads({ flags: { db } }: AppOptions): void {
  if (!existsSync(chosenDatabase({ db, trust: true }).path)) existingDatabase({ db });
}
