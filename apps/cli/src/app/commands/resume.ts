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

const found = async (id: string, { project }: CommandContext): Promise<string> =>
  (await findThread(project.store, { id, path: project.db })).id;
