import * as z from "zod/mini";
import type { Task } from "../../events/event-map.ts";
import type { Control } from "../../folds/control.ts";
import { defineTool } from "../tool.ts";
import { toolSchema } from "./schema.ts";
import { ControlResult } from "./result.ts";

const MAX_TASKS = 100;
const MAX_CHARS = 1_000;

const text = () => z.string().check(z.minLength(1), z.maxLength(MAX_CHARS));
const Todo = () =>
  z.object({
    id: z.optional(z.string().check(z.maxLength(100))),
    content: text(),
    status: z.enum(["pending", "in_progress", "completed"]),
    activeForm: z.optional(text()),
  });
const Input = () => z.object({ todos: z.array(Todo()).check(z.maxLength(MAX_TASKS)) });
type Todo = z.infer<ReturnType<typeof Todo>>;

/** Each call replaces the whole task list. */
export const writeTodos = defineTool({
  description: `Keep a task list for work of several steps; the user sees it. Give the whole list each time (up to ${MAX_TASKS} items): it replaces the last one.
Each item: content ("Run the tests"), status (pending, in_progress or completed; at most one in progress) and activeForm ("Running the tests"). Mark an item completed as soon as it is done.`,
  category: "control",
  effect: "idempotent",
  input: toolSchema(Input),
  execute({ todos }) {
    const active = todos.filter(({ status }) => status === "in_progress").length;
    if (active > 1) throw new Error(`${active} items are in progress; at most one may be. The list was not changed.`);
    return new ControlResult(({ control, turn, tasks: before }) => {
      const tasks = identified(todos, before, control);
      const turnId = turn ? { turnId: turn.turnId } : {};
      return { content: summary(tasks), details: { tasks }, events: [{ type: "task_updated", ...turnId, tasks }] };
    });
  },
});

/** An item keeps its id if the model gives the id, or the same content. */
function identified(todos: readonly Todo[], before: readonly Task[], { lastTaskNo }: Control): Task[] {
  const used = new Set<string>();
  const take = (id: string | undefined): string | undefined => {
    if (id === undefined || id === "" || used.has(id)) return undefined;
    used.add(id);
    return id;
  };
  // Ids that the model gave come first: an item that is found by its content must not get one of them.
  const given = todos.map(({ id }) => take(id));
  let no = lastTaskNo;
  const fresh = (): string => {
    let id: string | undefined;
    while (id === undefined) id = take(String(++no));
    return id;
  };
  return todos.map(({ content, status, activeForm = content }, at) => {
    const same = before.find((task) => task.content === content && !used.has(task.id))?.id;
    return { id: given[at] ?? take(same) ?? fresh(), content, status, activeForm };
  });
}

function summary(tasks: readonly Task[]): string {
  if (tasks.length === 0) return "The task list is empty now.";
  const done = tasks.filter(({ status }) => status === "completed").length;
  const lines = tasks.map(({ id, content, status }) => `${id}. [${status}] ${content}`);
  return [`${done} of ${tasks.length} done:`, ...lines].join("\n");
}
