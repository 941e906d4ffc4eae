import * as z from "zod/mini";
import type { ThreadState } from "../../folds/state.ts";
import type { SubmitPlanPayload } from "../../events/suspend-payload.ts";
import { defineTool } from "../tool.ts";
import { toolSchema } from "./schema.ts";
import { ControlResult, type Settlement } from "./result.ts";

const Input = z.object({ title: z.optional(z.string()), plan: z.string().check(z.minLength(1)) });
const Answer = z.object({ action: z.enum(["approved", "rejected"]), feedback: z.optional(z.string()) });

/** The mode that an approved plan leads to, if there is one. */
export type Transition = (state: ThreadState) => { modeId: string; name: string; modelId: string } | null;

/** Puts a plan before a person. Approved, the turn goes on in the next mode; rejected, the model hears why. */
export const submitPlan = (transition: Transition, somebodyThere: boolean) =>
  defineTool({
    description:
      "Submit your plan for approval before you start the work. If it is approved, go on and carry it out; if it is rejected, revise it by the feedback and submit it again.",
    category: "control",
    effect: "pure",
    input: toolSchema(Input),
    resume: toolSchema(Answer),
    execute({ title, plan }, { suspend, resumed }) {
      if (!resumed && !somebodyThere)
        throw new Error("Nobody is there to approve a plan. End your work with the plan as your answer.");
      if (!resumed) return suspend({ title: title ?? null, plan } satisfies SubmitPlanPayload);
      const { action, feedback } = resumed.data;
      const said = feedback === undefined || feedback.trim() === "" ? "" : ` The user says: ${feedback}`;
      if (action !== "approved")
        return `The plan was rejected.${said || " No reason was given: ask, or propose another one."}`;
      return new ControlResult((state) => approved(state, transition, said));
    },
  });

function approved(state: ThreadState, transition: Transition, said: string): Settlement {
  const { turn, control } = state;
  const next = transition(state);
  if (!next || !turn) return { content: `The plan was approved. Carry it out now.${said}` };
  const { modeId, name, modelId } = next;
  const previousModeId = control.modeId ?? turn.modeId;
  return {
    content: `The plan was approved, and you are in mode "${name}" now. Carry it out.${said}`,
    events: previousModeId === modeId ? [] : [{ type: "mode_changed", modeId, previousModeId, modelId }],
  };
}
