import * as z from "zod/mini";
import type { ThreadState } from "../../folds/state.ts";
import type { SubmitPlanPayload } from "../../events/suspend-payload.ts";
import { defineTool } from "../tool.ts";
import { toolSchema } from "./schema.ts";
import { ControlResult, type Settlement } from "./result.ts";

const Input = () => z.object({ title: z.optional(z.string()), plan: z.string().check(z.minLength(1)) });
const Answer = () => z.object({ action: z.enum(["approved", "rejected"]), feedback: z.optional(z.string()) });

/** The mode that an approved plan enters. `null`: it stays in the current mode. */
export type Transition = (state: ThreadState) => { modeId: string; name: string; modelId: string } | null;

/** Asks a person to approve a plan. If it is approved, the turn continues in the next mode; if not, the model gets the feedback. */
export const submitPlan = ({ transition, maySuspend }: { transition: Transition; maySuspend: boolean }) =>
  defineTool({
    description:
      "Submit your plan for approval before you start the work. If it is approved, go on and carry it out; if it is rejected, revise it by the feedback and submit it again.",
    category: "control",
    effect: "pure",
    input: toolSchema(Input),
    resume: toolSchema(Answer),
    execute({ title, plan }, { suspend, resumed }) {
      if (!resumed && !maySuspend)
        throw new Error("No person is available to approve a plan. End your work with the plan as your answer.");
      if (!resumed) return suspend({ title: title ?? null, plan } satisfies SubmitPlanPayload);
      const { action, feedback } = resumed.data;
      const remark = feedback === undefined || feedback.trim() === "" ? "" : ` The user says: ${feedback}`;
      const details = { answer: { action, ...(feedback === undefined ? {} : { feedback }) } };
      if (action !== "approved") {
        const content = `The plan was rejected.${remark || " No reason was given: ask, or propose another one."}`;
        return { content, details };
      }
      return new ControlResult((state) => ({ ...approved(state, transition, remark), details }));
    },
  });

function approved(state: ThreadState, transition: Transition, remark: string): Settlement {
  const { turn, control } = state;
  const next = transition(state);
  if (!next || !turn) return { content: `The plan was approved. Carry it out now.${remark}` };
  const { modeId, name, modelId } = next;
  const { turnId } = turn;
  const previousModeId = control.modeId ?? turn.modeId;
  return {
    content: `The plan was approved, and you are in mode "${name}" now. Carry it out.${remark}`,
    events: previousModeId === modeId ? [] : [{ type: "mode_changed", turnId, modeId, previousModeId, modelId }],
  };
}
