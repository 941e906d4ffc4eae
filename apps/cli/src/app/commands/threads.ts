import type { AppCommand } from "./command.ts";
import { goToThread } from "./go-to-thread.ts";
import { threadList } from "./thread-items.ts";

export const threadsCommand: AppCommand = {
  name: "threads",
  description: "go to another thread, found by its title or text",
  async run(_argument, context) {
    const list = await threadList(context, { title: "Threads" });
    if (list.items.length === 0) return context.say("There are no threads yet.");
    const threadId = await context.pick(list);
    if (threadId === undefined) return;
    if (threadId === context.session.getCurrentThreadId()) return context.say("You are in this thread already.");
    await goToThread(context, () => context.session.switchThread({ threadId }));
  },
};
