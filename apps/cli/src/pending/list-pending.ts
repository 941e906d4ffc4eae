import type { ReportOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import { terminalJson } from "../terminal-json.ts";
import { ageOf } from "../threads/list-threads.ts";
import { listFrom, dbOption } from "../threads/open-store.ts";
import { allWaiting, type WaitingInThread } from "./all-waiting.ts";
import { waitingText } from "./waiting-text.ts";

/** `cinch pending`. */
export async function listPending({ db, json }: ReportOptions): Promise<number> {
  const waiting = await listFrom({ db }, allWaiting);
  if (json) process.stdout.write(`${terminalJson(waiting, 2)}\n`);
  else process.stdout.write(waiting.map((one) => `${entry(one, db)}\n`).join("\n"));
  if (waiting.length === 0 && !json) process.stderr.write("Nothing waits for you.\n");
  return ExitCode.complete;
}

const entry = (waiting: WaitingInThread, db: string | undefined): string =>
  `${waitingText(waiting, `${cinch} answer${dbOption(db)}`)}\n  thread: ${waiting.topThreadId}  ${short(waiting.title, 60)} · ${ageOf(Date.now() - waiting.at)}`;
