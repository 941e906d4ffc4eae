import { CinchError } from "@cinch/core";
import type { AnswerOptions } from "../cli-command.ts";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { driveThread } from "../run/drive.ts";
import { Printer } from "../run/printer.ts";
import { Shutdown } from "../run/shutdown.ts";
import { short } from "../terminal/sanitise.ts";
import { existingDatabase } from "../threads/open-store.ts";
import { allWaiting, type WaitingInThread } from "./all-waiting.ts";
import { answerTo, type AnswerToCall } from "./given-answer.ts";
import { respond } from "./respond.ts";

/** `cinch answer`: answers what waits, and drives its turn on as `cinch run` does. */
export async function answer(options: AnswerOptions): Promise<number> {
  using shutdown = new Shutdown();
  existingDatabase({ db: options.flags.db, trust: options.trust });
  let given: AnswerToCall | undefined;
  return driveThread({
    printer: new Printer(),
    shutdown,
    options,
    prompt: null,
    async thread(store) {
      const waiting = meantBy(options.id, await allWaiting(store));
      given = answerTo(waiting, options);
      return { kind: "id", id: waiting.topThreadId };
    },
    async begin({ session, watch }) {
      watch.untilIdle();
      await respond(session, given!).catch(unlessLate);
      return undefined;
    },
  });
}

/** The id of what waits, or of a thread in which only one thing waits, or the beginning of either. */
function meantBy(id: string, all: readonly WaitingInThread[]): WaitingInThread {
  const begins = (text: string) => text.startsWith(id);
  const found = all.filter((one) => begins(one.id) || begins(one.topThreadId) || begins(one.threadId));
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  const what = only ? `${found.length} questions are meant by` : "Nothing waits under";
  throw new UsageError(`${what} "${short(id)}": ${cinch} pending lists what waits.`);
}

/** Another process answered first. */
function unlessLate(error: unknown): void {
  if (error instanceof CinchError && (error.code === "NOT_PENDING" || error.code === "ALREADY_ANSWERED"))
    throw new UsageError(`This was answered meanwhile. ${cinch} pending lists what waits.`, { cause: error });
  throw error;
}
