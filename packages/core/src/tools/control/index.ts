/** The tools with which an agent talks to the harness itself: questions, plans, the task list. */
import type { ToolSet } from "../tool.ts";
import { askUser } from "./ask-user.ts";
import { submitPlan, type Transition } from "./submit-plan.ts";
import { writeTodos } from "./write-todos.ts";

export interface ControlConfig {
  /** Whether a plan of this agent leads anywhere, or one of its modes names `submit_plan`. */
  plans: boolean;
  transition: Transition;
  /** Whether anybody answers: not with `onAsk: "decline"`. */
  somebodyThere: boolean;
}

export function controlTools({ plans, transition, somebodyThere }: ControlConfig): ToolSet {
  const always = { ask_user: askUser(somebodyThere), write_todos: writeTodos };
  return plans ? { ...always, submit_plan: submitPlan(transition, somebodyThere) } : always;
}
