import type { VNode } from "preact";
import { useField } from "../page-context.ts";

const SIGNS = { pending: "○", in_progress: "●", completed: "✓" } as const;

export function TasksPanel(): VNode | null {
  const tasks = useField("tasks");
  if (tasks.length === 0) return null;
  const done = tasks.filter(({ status }) => status === "completed").length;
  return (
    <section class="panel">
      <h2>
        Tasks <small>{`${done} of ${tasks.length}`}</small>
      </h2>
      <ul class="tasks">
        {tasks.map(({ id, content, activeForm, status }) => (
          <li key={id} class={status}>
            <span aria-hidden="true">{SIGNS[status]}</span>
            <span dir="auto">{status === "in_progress" ? activeForm : content}</span>
            <span class="sr-only">{status.replace("_", " ")}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
