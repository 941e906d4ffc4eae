import type { PendingSuspension, SubmitPlanPayload } from "@cinch/core";
import type { KeyEvent } from "../terminal/keys.ts";
import { line, type Line } from "../terminal/line.ts";
import { MarkdownStream } from "../text/markdown.ts";
import type { MarkdownOptions } from "../text/markdown-lines.ts";
import { choiceRows, movedMark, quotedLabel, takenChoice, type KeyChoice } from "./choices.ts";
import { askTitle, laidOut } from "./panel-layout.ts";
import type { Panel, PanelStep } from "./panel.ts";
import type { SuspensionChoice } from "./question.ts";
import { fieldAfter, fieldRow, fieldText, textField, type TextField } from "./text-field.ts";

/** A call of `submit_plan` that waits. */
export type PendingPlan = Pick<PendingSuspension, "threadId" | "toolCallId" | "seq" | "path"> & {
  suspendPayload: SubmitPlanPayload;
};

export interface PlanState {
  plan: PendingPlan;
  /** The mode that an approval leads to. */
  transitionsTo: string | null;
  marked: number;
  /** What the user answers, while it is typed. */
  reply: TextField | null;
  /** The plan as the user changed it in the editor. */
  edited: string | null;
}

export type PlanChoice =
  | SuspensionChoice
  /** The app opens an editor with this text, and then shows `editedPlan` of what the user saved. */
  | { kind: "edit"; text: string; extension: "md" };

export type PlanAction = "approve" | "answer" | "edit" | "decline";

export const planState = (
  plan: PendingPlan,
  { transitionsTo = null }: { transitionsTo?: string | null } = {},
): PlanState => ({
  plan,
  transitionsTo,
  marked: 0,
  reply: null,
  edited: null,
});

/** The whole plan, to be printed above the panel. */
export function planLines({ title, plan }: SubmitPlanPayload, options: MarkdownOptions): Line[] {
  const stream = new MarkdownStream(options);
  const heading = title === null ? [] : [line(title, { bold: true }), line("")];
  return [...heading, ...stream.push(plan), ...stream.end()];
}

/** The panel again, after the editor. The plan that the user saved still has to be approved. */
export function editedPlan(state: PlanState, saved: string): PlanState {
  const isSame = saved.trim() === state.plan.suspendPayload.plan.trim() || saved.trim() === "";
  return { ...state, marked: 0, edited: isSame ? null : saved.trim() };
}

/** What the panel offers: also for a user who chooses by number. */
export function planChoices({ transitionsTo }: PlanState): KeyChoice<PlanAction>[] {
  return [
    {
      id: "approve",
      key: "y",
      label: transitionsTo === null ? "approve" : `approve, go to ${modeName(transitionsTo)}`,
    },
    { id: "answer", key: "r", label: "answer" },
    { id: "edit", key: "e", label: "in $EDITOR" },
    { id: "decline", key: "n", label: "decline" },
  ];
}

const modeName = (mode: string): string => (/^[\w-]+$/.test(mode) ? mode : quotedLabel(mode));

/** Asks whether a plan, which stands above, is to be carried out. */
export const planPanel: Panel<PlanState, PlanChoice> = {
  reduce(state, event) {
    if (state.reply) return replyTyped(state, state.reply, event);
    const choices = planChoices(state);
    const marked = movedMark(event, { marked: state.marked, count: choices.length });
    if (marked !== undefined) return { kind: "state", state: { ...state, marked } };
    const taken = takenChoice(event, choices, state.marked);
    return taken === undefined ? { kind: "ignored" } : acted(state, taken);
  },
  view(state, context) {
    const { plan, marked, reply } = state;
    const title = askTitle(planTitle(state), plan.path, context);
    if (!reply) return laidOut({ title, ...choiceRows(planChoices(state), marked, context) }, context);
    const { line: row, column } = fieldRow(reply, context.width, "Answer: ");
    return laidOut({ title, body: [row], at: 0, column }, context);
  },
  inLines(state, context) {
    const { plan, reply, edited } = state;
    if (reply) {
      const step = (feedback: string) => answered(state, { action: "rejected", feedback: feedback.trim() });
      const back: PanelStep<PlanState, PlanChoice> = { kind: "state", state: { ...state, reply: null } };
      return {
        lines: [],
        choices: [],
        typed: { prompt: "your answer", step },
        empty: { label: "goes back", step: back },
      };
    }
    const { title, plan: whole } = plan.suspendPayload;
    const shown = planLines({ title, plan: edited ?? whole }, { width: context.width, wrap: "terminal" });
    return {
      lines: [...shown, ...askTitle(planTitle(state), plan.path, context)],
      choices: planChoices(state).map(({ id, key, label }) => ({
        letter: key,
        label: id === "edit" ? "edit" : label,
        step: acted(state, id),
      })),
    };
  },
};

const planTitle = ({ edited }: PlanState): string =>
  edited === null ? "Carry out this plan?" : "Carry out the plan as you edited it?";

function acted(state: PlanState, action: PlanAction): PanelStep<PlanState, PlanChoice> {
  const { edited, plan } = state;
  switch (action) {
    case "approve":
      return answered(state, {
        action: "approved",
        ...(edited === null ? {} : { feedback: `Carry out this version of the plan:\n\n${edited}` }),
      });
    case "decline":
      return answered(state, { action: "rejected" });
    case "answer":
      return { kind: "state", state: { ...state, reply: textField() } };
    case "edit":
      return { kind: "choice", choice: { kind: "edit", text: edited ?? plan.suspendPayload.plan, extension: "md" } };
  }
}

function replyTyped(state: PlanState, reply: TextField, event: KeyEvent): PanelStep<PlanState, PlanChoice> {
  if (event.type === "key" && event.key === "escape") return { kind: "state", state: { ...state, reply: null } };
  if (event.type === "key" && event.key === "enter") {
    const feedback = fieldText(reply).trim();
    return feedback === "" ? { kind: "state", state } : answered(state, { action: "rejected", feedback });
  }
  const next = fieldAfter(reply, event);
  return next ? { kind: "state", state: { ...state, reply: next } } : { kind: "ignored" };
}

const answered = (
  { plan: { threadId, toolCallId, seq } }: PlanState,
  resumeData: { action: "approved" | "rejected"; feedback?: string },
): PanelStep<PlanState, PlanChoice> => ({
  kind: "choice",
  choice: { kind: "answer", answer: { threadId, toolCallId, seq, resumeData } },
});
