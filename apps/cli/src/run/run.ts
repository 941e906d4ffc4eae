import type { RunOptions } from "../cli-command.ts";
import { waitingIn } from "../pending/waiting.ts";
import { respond } from "../pending/respond.ts";
import { existingDatabase } from "../threads/open-store.ts";
import { driveThread, type DriveContext } from "./drive.ts";
import { Printer } from "./printer.ts";
import { promptOf } from "./prompt.ts";
import type { RunEnd } from "./run-end.ts";
import { Shutdown } from "./shutdown.ts";

/** `cinch run`: sends a prompt to a thread, prints what happens, and returns the exit code. */
export async function run(options: RunOptions): Promise<number> {
  using shutdown = new Shutdown();
  const printer = new Printer();
  const { thread, trust, flags } = options;
  if (thread.kind !== "new") existingDatabase({ db: flags.db, trust });
  const prompt = await promptOf(options, (line) => printer.note(line));
  // Awaited, because the signals are handled until the end.
  return await driveThread({
    printer,
    shutdown,
    options,
    thread: async () => thread,
    prompt,
    begin: (context) => begin(context, { prompt, printer }),
  });
}

/** Sends the prompt, answers a question with it, or resumes the thread. */
async function begin(
  { project, session, watch, entered }: DriveContext,
  { prompt, printer }: { prompt: string | null; printer: Printer },
): Promise<RunEnd | undefined> {
  const { status, inbox } = entered.before;
  if (prompt === null) {
    if (status === "waiting") return { kind: "waiting" };
    if (status === "idle" && inbox.every(({ dueAt }) => dueAt !== null)) return { kind: "nothing" };
    watch.untilIdle();
    await session.resume();
    return undefined;
  }
  const waiting = status === "idle" ? [] : await waitingIn(project.harness, entered.threadId);
  const questions = waiting.filter(({ kind }) => kind === "question");
  const [question] = questions;
  if (question && questions.length === 1) {
    await respond({ session, watch, waiting: question, given: { words: [prompt] } });
    return undefined;
  }
  if (status !== "waiting" && status !== "parked") {
    watch.until(session.sendMessage({ content: prompt }));
    return undefined;
  }
  if (status === "waiting") printer.note("a prompt answers a question, and nothing else: it is queued");
  await session.post({ content: prompt, delivery: "send" });
  return { kind: status };
}
