import type { AppCommand } from "./command.ts";
import { goToThread } from "./go-to-thread.ts";

export const newCommand: AppCommand = {
  name: "new",
  description: "start a new thread; this one stays",
  argument: "[TITLE]",
  async run(argument, context) {
    const title = argument.trim();
    await goToThread(context, () => context.session.createThread(title === "" ? {} : { title }));
    context.say("This is a new thread. /resume leads back to the one before.");
  },
};
