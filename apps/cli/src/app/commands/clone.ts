import type { AppCommand } from "./command.ts";
import { goToThread } from "./go-to-thread.ts";

export const cloneCommand: AppCommand = {
  name: "clone",
  description: "copy the thread and go on in the copy",
  argument: "[TITLE]",
  async run(argument, context) {
    const { session } = context;
    const title = argument.trim() || copyTitle(context.display().title);
    await goToThread(context, () => session.cloneThread({ title }));
    context.say(`This is a copy with the same messages and rules. Both threads work on the same files.`);
  },
};

const copyTitle = (title: string): string => (title === "" ? "" : `${title} (copy)`);
