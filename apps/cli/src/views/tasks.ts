import type { Json, Task } from "@cinch/core";
import type { Line, Span } from "../terminal/line.ts";
import { wrapLines } from "../text/wrap.ts";
import { jsonFields } from "./call-argument.ts";
import { signs } from "./signs.ts";
import { dim, oneRow, roomOf, span } from "./spans.ts";
import type { ViewContext } from "./view.ts";

/** What is shown of a task. */
export type ShownTask = Pick<Task, "content" | "status"> & { activeForm?: string };

/** The task list, with a title. */
export function tasksLines(tasks: readonly ShownTask[], context: ViewContext): Line[] {
  if (tasks.length === 0) return [];
  return [
    oneRow([span("Tasks", { bold: true }), span(`  ${tasksDone(tasks)}`, dim)], context),
    ...taskRows(tasks, context),
  ];
}

/** `2 of 5 done` */
export const tasksDone = (tasks: readonly ShownTask[]): string =>
  `${tasks.filter(({ status }) => status === "completed").length} of ${tasks.length} done`;

export const taskRows = (tasks: readonly ShownTask[], context: ViewContext): Line[] =>
  tasks.flatMap((task) => {
    const first = [span("  "), SIGNS[task.status], span(" ")];
    return wrapLines([taskText(task)], roomOf(context), { first, rest: [span("    ")] });
  });

const SIGNS: Readonly<Record<Task["status"], Span>> = {
  completed: signs.done,
  in_progress: span("▸", { color: "cyan" }),
  pending: span("·", dim),
};

function taskText({ content, status, activeForm = content }: ShownTask): Span {
  switch (status) {
    case "completed":
      return span(content, dim);
    case "in_progress":
      return span(activeForm, { bold: true });
    case "pending":
      return span(content);
  }
}

/** The tasks in the arguments of `write_todos`. What the model wrote may have any shape. */
export function tasksOf(args: Json): ShownTask[] {
  const todos = jsonFields(args)["todos"];
  if (!Array.isArray(todos)) return [];
  return todos.map((todo) => {
    const { content, status, activeForm } = jsonFields(todo);
    const text = typeof content === "string" ? content : "";
    const known = typeof status === "string" && Object.hasOwn(SIGNS, status) ? (status as Task["status"]) : "pending";
    return { content: text, status: known, ...(typeof activeForm === "string" ? { activeForm } : {}) };
  });
}
