import {
  isSuspendedBy,
  type ApprovalAnswer,
  type PendingApproval,
  type PendingSuspension,
  type SuspensionAnswer,
} from "@cinch/core";
import type { KeyEvent } from "../terminal/keys.ts";
import type { Line } from "../terminal/line.ts";
import { approvalPanel, approvalState, editedApproval, type EditedApproval } from "../views/approval.ts";
import { approvalIsLong, approvalLines } from "../views/approval-content.ts";
import {
  mappedSteps,
  type Panel,
  type PanelContext,
  type PanelInLines,
  type PanelStep,
  type PanelView,
} from "../views/panel.ts";
import { editedPlan, planLines, planPanel, planState, type PendingPlan } from "../views/plan.ts";
import {
  questionIsLong,
  questionLines,
  questionPanel,
  questionState,
  withEmptyField,
  type PendingQuestion,
} from "../views/question.ts";
import type { ViewContext } from "../views/view.ts";
import { suspensionIsLong, suspensionLines, suspensionPanel, suspensionState } from "../views/suspension.ts";
import { panelId } from "./panel-focus.ts";

/** What the user chose in a panel, for the app to carry out. */
export type AskedChoice =
  | { kind: "approval"; answer: ApprovalAnswer }
  | { kind: "suspension"; answer: SuspensionAnswer }
  /** `saved` says what follows from the text that the user saved. */
  | { kind: "edit"; text: string; extension: string; saved: (text: string) => AskedChoice }
  /** The text of a field. If it is no command of the app, it is the `answer`. If it is one, `emptied` takes it out of the field. */
  | { kind: "typed"; text: string; answer: AskedChoice; emptied: () => void }
  | { kind: "view"; title: string; lines: (context: { width: number }) => readonly Line[] }
  /** The panel stays. */
  | { kind: "none"; problem?: string };

/** A question of the thread, with what the user has typed in its panel. */
export interface AskedPanel {
  readonly id: string;
  /** `undefined`: the key means nothing to the panel. */
  press(event: KeyEvent): AskedChoice | undefined;
  view(context: PanelContext): PanelView;
  /** What must be printed whole before the panel asks, because the panel does not show it. */
  above(context: PanelContext): readonly Line[];
  /** A step is to be called once, when it is taken. */
  inLines(context: ViewContext): PanelInLines<() => AskedChoice>;
}

interface AskedOptions<State, Choice> {
  id: string;
  panel: Panel<State, Choice>;
  state: State;
  chosen: (choice: Choice, change: (next: (state: State) => State) => void) => AskedChoice;
  above: (state: State, context: PanelContext) => readonly Line[];
}

function asked<State, Choice>({ id, panel, chosen, above, ...options }: AskedOptions<State, Choice>): AskedPanel {
  let { state } = options;
  const take = (step: PanelStep<State, Choice>): AskedChoice | undefined => {
    if (step.kind === "ignored") return undefined;
    if (step.kind === "choice") return chosen(step.choice, (next) => (state = next(state)));
    state = step.state;
    return { kind: "none" };
  };
  return {
    id,
    press: (event) => take(panel.reduce(state, event)),
    inLines: (context) => mappedSteps(panel.inLines(state, context), (step) => () => take(step) ?? { kind: "none" }),
    view: (context) => panel.view(state, context),
    above: (context) => above(state, context),
  };
}

export function askedApproval(approval: PendingApproval): AskedPanel {
  /** What the user saved last. It is edited further after a mistake, and if the answer is refused. */
  let draft: string | undefined;
  const saved = (text: string): AskedChoice => {
    const edited = editedApproval(approval, text);
    draft = edited.kind === "unchanged" ? undefined : text;
    return savedChoice(edited);
  };
  return asked({
    id: panelId(approval),
    panel: approvalPanel,
    state: approvalState(approval),
    above: (_, context) => (approvalIsLong(approval, context) ? approvalLines(approval, context) : []),
    chosen(choice) {
      switch (choice.kind) {
        case "answer":
          return { kind: "approval", answer: choice.answer };
        case "view":
          return { kind: "view", title: approval.toolName, lines: (context) => approvalLines(approval, context) };
        case "edit":
          return { ...choice, text: draft ?? choice.text, saved };
      }
    },
  });
}

function savedChoice(edited: EditedApproval): AskedChoice {
  switch (edited.kind) {
    case "answer":
      return { kind: "approval", answer: edited.answer };
    case "problem":
      return { kind: "none", problem: edited.problem };
    case "unchanged":
      return { kind: "none" };
  }
}

interface SuspensionContext {
  /** The mode that an approved plan leads to. */
  transitionsTo: string | null;
  wrap: "words" | "terminal";
}

export function askedSuspension(pending: PendingSuspension, { transitionsTo, wrap }: SuspensionContext): AskedPanel {
  if (isSuspendedBy(pending, "ask_user")) return askedQuestion(pending);
  if (isSuspendedBy(pending, "submit_plan")) return askedPlan(pending, { transitionsTo, wrap });
  return asked({
    id: panelId(pending),
    panel: suspensionPanel,
    state: suspensionState(pending),
    above: (_, context) => (suspensionIsLong(pending, context) ? suspensionLines(pending, context) : []),
    chosen: ({ answer }) => ({ kind: "suspension", answer }),
  });
}

const askedQuestion = (question: PendingQuestion): AskedPanel =>
  asked({
    id: panelId(question),
    panel: questionPanel,
    state: questionState(question),
    above: (_, context) => (questionIsLong(question, context) ? questionLines(question, context) : []),
    chosen({ answer, typed }, change) {
      const choice: AskedChoice = { kind: "suspension", answer };
      if (typed === undefined) return choice;
      return { kind: "typed", text: typed, answer: choice, emptied: () => change(withEmptyField) };
    },
  });

/** A plan is always printed whole. */
const askedPlan = (plan: PendingPlan, { transitionsTo, wrap }: SuspensionContext): AskedPanel =>
  asked({
    id: panelId(plan),
    panel: planPanel,
    state: planState(plan, { transitionsTo }),
    above: (_, { width }) => planLines(plan.suspendPayload, { width: Math.max(1, width - 1), wrap }),
    chosen(choice, change) {
      if (choice.kind === "answer") return { kind: "suspension", answer: choice.answer };
      const saved = (text: string): AskedChoice => {
        change((state) => editedPlan(state, text));
        return { kind: "none" };
      };
      return { ...choice, saved };
    },
  });
