/** The tools that act on the thread itself: questions, plans, the task list, subagents. */
import type { ToolSet } from "../tool.ts";
import { agentTools } from "./agents.ts";
import { askUser } from "./ask-user.ts";
import type { Delegation } from "../../config/delegation.ts";
import { submitPlan, type Transition } from "./submit-plan.ts";
import { task } from "./task.ts";
import { writeTodos } from "./write-todos.ts";

interface ControlConfig {
  /** A mode of this agent has `transitionsTo`, or lists `submit_plan` in `availableTools`. */
  hasPlans: boolean;
  transition: Transition;
  /** False with `onAsk: "decline"`: no person answers. */
  maySuspend: boolean;
  /** `null`: the agent can't delegate. */
  delegation: Delegation | null;
  /** False where a profile turns the built-in subagent off. */
  hasGeneralPurpose: boolean;
}

export function controlTools({
  hasPlans,
  transition,
  maySuspend,
  delegation,
  hasGeneralPurpose,
}: ControlConfig): ToolSet {
  return {
    ask_user: askUser({ maySuspend }),
    write_todos: writeTodos,
    ...(hasPlans ? { submit_plan: submitPlan({ transition, maySuspend }) } : {}),
    ...(delegation ? { task: task(delegation, { hasGeneralPurpose }) } : {}),
    ...(delegation?.agent.subagentBackground ? agentTools(delegation.agent.subagentBackground) : {}),
  };
}
