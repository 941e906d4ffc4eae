import type { AppCommand } from "./command.ts";

export const renameCommand: AppCommand = {
  name: "rename",
  description: "give the thread another title",
  argument: "[TITLE]",
  async run(argument, context) {
    const title = argument.trim() || (await context.ask({ title: "Title", initial: context.display().title }))?.trim();
    if (!title) return;
    await context.session.renameThread({ title });
    context.say(`The thread is now "${title}".`);
  },
};
