import { UsageError } from "../../exit.ts";
import { line } from "../../terminal/line.ts";
import { findThread } from "../../threads/find-thread.ts";
import type { AppCommand, CommandContext } from "./command.ts";
import { goToThread } from "./go-to-thread.ts";
import { threadList } from "./thread-items.ts";

export const resumeCommand: AppCommand = {
  name: "resume",
  description: "continue an earlier thread",
  argument: "[ID]",
  async run(argument, context) {
    const { session } = context;
    const id = argument.trim();
    const threadId = id === "" ? await chosen(context) : await found(id, context);
    if (threadId === undefined) return;
    if (threadId === session.getCurrentThreadId()) return context.say("You are in this thread already.");
    await goToThread(context, () => session.switchThread({ threadId }));
  },
};

async function chosen(context: CommandContext): Promise<string | undefined> {
  const without = context.session.getCurrentThreadId();
  const list = await threadList(context, { title: "Resume which thread?", without });
  if (list.items.length > 0) return context.pick(list);
  context.say("There is no other thread yet. /new starts one.");
  return undefined;
}

async function found(id: string, context: CommandContext): Promise<string | undefined> {
  const { store, db: path } = context.project;
  try {
    return (await findThread(store, { id, path })).id;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    context.print(error.message.split("\n").map((row) => line(row)));
    context.say("/resume without an id lists the threads.");
    return undefined;
  }
}
