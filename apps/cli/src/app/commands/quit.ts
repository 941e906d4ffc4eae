import type { AppCommand } from "./command.ts";

export const quitCommand: AppCommand = {
  name: "quit",
  description: "leave; the thread is kept",
  run: (_argument, context) => context.quit(),
};
