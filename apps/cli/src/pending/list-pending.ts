import type { ThreadApproval, ThreadSuspension } from "@cinch/core";
import type { ReportOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import { terminalJson } from "../terminal-json.ts";
import { ageOf } from "../threads/list-threads.ts";
import { dbOption, listFrom } from "../threads/open-store.ts";
import { waitingOf } from "./waiting.ts";
import { waitingText } from "./waiting-text.ts";

/** `cinch pending`. */
export async function listPending({ db, json }: ReportOptions): Promise<number> {
  const calls = await listFrom({ db }, ({ harness }) => harness.pending());
  if (json) process.stdout.write(`${terminalJson(calls.map(listed), 2)}\n`);
  else process.stdout.write(calls.map((call) => `${entry(call, `${cinch} answer${dbOption(db)}`)}\n`).join("\n"));
  if (calls.length === 0 && !json) process.stderr.write("Nothing waits for you.\n");
  return ExitCode.complete;
}

const listed = (call: ThreadApproval | ThreadSuspension) => {
  const { title, rootThreadId } = call;
  return { ...waitingOf(call), rootThreadId, title };
};

function entry(call: ThreadApproval | ThreadSuspension, answer: string): string {
  const age = ageOf(Date.now() - call.at);
  return `${waitingText(waitingOf(call), answer)}\n  thread: ${call.rootThreadId}  ${short(call.title, 60)} · ${age}`;
}
