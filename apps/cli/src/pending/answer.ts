import { CinchError, type ThreadApproval, type ThreadSuspension } from "@cinch/core";
import type { AnswerOptions } from "../cli-command.ts";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { driveThread } from "../run/drive.ts";
import { Printer } from "../run/printer.ts";
import { Shutdown } from "../run/shutdown.ts";
import { short } from "../terminal/sanitise.ts";
import { existingDatabase } from "../threads/open-store.ts";
import { answerTo } from "./given-answer.ts";
import { respond } from "./respond.ts";
import { waitingOf, type Waiting } from "./waiting.ts";

/** `cinch answer`: answers what waits, and drives its turn on as `cinch run` does. */
export async function answer(options: AnswerOptions): Promise<number> {
  using shutdown = new Shutdown();
  existingDatabase({ db: options.flags.db, trust: options.trust });
  let waiting: Waiting | undefined;
  // Awaited, because the signals are handled until the end.
  return await driveThread({
    printer: new Printer(),
    shutdown,
    options,
    prompt: null,
    async thread({ harness }) {
      const call = meantBy(options.id, await harness.pending());
      waiting = waitingOf(call);
      // Refuses a wrong answer before the thread is entered.
      answerTo(waiting, options);
      return { kind: "id", id: call.rootThreadId };
    },
    async begin({ session, watch }) {
      await respond({ session, watch, waiting: waiting!, given: options }).catch(unlessLate);
      return undefined;
    },
  });
}

/** The id of what waits, or of a thread in which only one thing waits, or the beginning of either. */
function meantBy<Call extends ThreadApproval | ThreadSuspension>(id: string, all: readonly Call[]): Call {
  const ids = (call: Call) => [waitingOf(call).id, call.rootThreadId, call.threadId];
  const found = all.filter((call) => ids(call).some((one) => one.startsWith(id)));
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
