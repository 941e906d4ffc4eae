import { tasksLines } from "../../views/tasks.ts";
import type { AppCommand } from "./command.ts";
import { present } from "./present.ts";

export const tasksCommand: AppCommand = {
  name: "tasks",
  description: "show the agent's task list",
  async run(_argument, context) {
    const { tasks } = context.display();
    if (tasks.length === 0)
      return context.say("There are no tasks. The agent writes a list for work of several steps; you can ask for one.");
    await present(context, { title: "Tasks", lines: tasksLines(tasks, context.screen()) });
  },
};
