/** The tools that act on the thread itself: questions, plans, the task list. */
import type { ToolSet } from "../tool.ts";
import { askUser } from "./ask-user.ts";
import { submitPlan, type Transition } from "./submit-plan.ts";
import { writeTodos } from "./write-todos.ts";

interface ControlConfig {
  /** A mode of this agent has `transitionsTo`, or lists `submit_plan` in `availableTools`. */
  hasPlans: boolean;
  transition: Transition;
  /** False with `onAsk: "decline"`: no person answers. */
  maySuspend: boolean;
}

export function controlTools({ hasPlans, transition, maySuspend }: ControlConfig): ToolSet {
  const always = { ask_user: askUser({ maySuspend }), write_todos: writeTodos };
  return hasPlans ? { ...always, submit_plan: submitPlan({ transition, maySuspend }) } : always;
}
