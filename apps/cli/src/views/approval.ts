import type { ApprovalAnswer, Decision, Json, PendingApproval } from "@cinch/core";
import type { KeyEvent } from "../terminal/keys.ts";
import { line, type Line } from "../terminal/line.ts";
import { approvalLines, approvalTitle, commandArgs } from "./approval-content.ts";
import { choiceRows, movedMark, quotedLabel, takenChoice, type KeyChoice } from "./choices.ts";
import { withContent } from "./gutter.ts";
import { askTitle, laidOut } from "./panel-layout.ts";
import type { Panel, PanelStep } from "./panel.ts";
import { fieldAfter, fieldRow, fieldText, textField, type TextField } from "./text-field.ts";

export interface ApprovalState {
  approval: PendingApproval;
  /** The index of the marked choice. */
  marked: number;
  /** The reason of a decline, while it is typed. */
  reason: TextField | null;
}

export type ApprovalChoice =
  /** For `respondToToolApproval`. */
  | { kind: "answer"; answer: ApprovalAnswer }
  /** The app opens an editor with this text; `editedApproval` makes an answer of what the user saved. */
  | { kind: "edit"; text: string; extension: "sh" | "json" }
  /** The app opens the pager with `approvalLines`. */
  | { kind: "view" };

export const approvalState = (approval: PendingApproval): ApprovalState => ({ approval, marked: 0, reason: null });

export type ApprovalAction = Decision | "reason" | "view";

/** What the panel offers: also for a user who chooses by number. */
export function approvalChoices({ decisions, suggestion, category }: PendingApproval): KeyChoice<ApprovalAction>[] {
  const pattern = suggestion === null ? "this tool" : quotedLabel(suggestion);
  const offered: (KeyChoice<ApprovalAction> & { needs?: Decision })[] = [
    { id: "approve", key: "y", label: "approve", needs: "approve" },
    { id: "decline", key: "n", label: "decline", needs: "decline" },
    { id: "reason", key: "r", label: "with a reason", needs: "decline" },
    { id: "edit", key: "e", label: "edit", needs: "edit" },
    { id: "always_allow_tool", key: "p", label: `always ${pattern}`, needs: "always_allow_tool" },
    { id: "always_allow_category", key: "c", label: `always ${category}`, needs: "always_allow_category" },
    { id: "view", key: "v", label: "view" },
  ];
  return offered.filter(({ needs }) => needs === undefined || decisions.includes(needs));
}

/** Asks whether a call may run. The answer names the call and its digest, so that it holds for what was shown. */
export const approvalPanel: Panel<ApprovalState, ApprovalChoice> = {
  reduce(state, event) {
    if (state.reason) return reasonTyped(state, state.reason, event);
    const choices = approvalChoices(state.approval);
    const marked = movedMark(event, { marked: state.marked, count: choices.length });
    if (marked !== undefined) return { kind: "state", state: { ...state, marked } };
    const taken = takenChoice(event, choices, state.marked);
    return taken === undefined ? { kind: "ignored" } : acted(state, taken);
  },
  view({ approval, marked, reason }, context) {
    const title = askTitle(approvalTitle(approval), approval.path, context);
    const above = withContent([...title, ...skillLine(approval)], approvalLines(approval, context), context);
    if (!reason) return laidOut({ ...above, ...choiceRows(approvalChoices(approval), marked, context) }, context);
    const { line: field, column } = fieldRow(reason, context.width, "Why not? ");
    return laidOut({ ...above, body: [field], at: 0, column }, context);
  },
  inLines(state, context) {
    const { approval, reason } = state;
    if (reason) {
      const typed = (message: string) => answered(approval, { decision: "decline", message: message.trim() });
      const back: PanelStep<ApprovalState, ApprovalChoice> = { kind: "state", state: { ...state, reason: null } };
      return {
        lines: [],
        choices: [],
        typed: { prompt: "Why not?", step: typed },
        empty: { label: "goes back", step: back },
      };
    }
    const choices = approvalChoices(approval)
      .filter(({ id }) => id !== "view")
      .map(({ id, key, label }) => ({
        letter: key,
        label: id === "reason" ? "decline with a reason" : label,
        step: acted(state, id),
      }));
    const title = askTitle(approvalTitle(approval), approval.path, context);
    return { lines: [...title, ...approvalLines(approval, context)], choices };
  },
};

/** The call might run without a question otherwise. */
const skillLine = ({ skill }: PendingApproval): Line[] =>
  skill === null ? [] : [line(`not listed by the skill ${quotedLabel(skill)}`, { dim: true })];

function acted(state: ApprovalState, action: ApprovalAction): PanelStep<ApprovalState, ApprovalChoice> {
  switch (action) {
    case "reason":
      return { kind: "state", state: { ...state, reason: textField() } };
    case "view":
      return { kind: "choice", choice: { kind: "view" } };
    case "edit":
      return { kind: "choice", choice: { kind: "edit", ...editable(state.approval) } };
    case "approve":
    case "decline":
    case "always_allow_tool":
    case "always_allow_category":
      return answered(state.approval, { decision: action });
  }
}

function reasonTyped(
  state: ApprovalState,
  reason: TextField,
  event: KeyEvent,
): PanelStep<ApprovalState, ApprovalChoice> {
  if (event.type === "key" && event.key === "escape") return { kind: "state", state: { ...state, reason: null } };
  if (event.type === "key" && event.key === "enter") {
    const message = fieldText(reason).trim();
    if (message === "") return { kind: "state", state };
    return answered(state.approval, { decision: "decline", message });
  }
  const next = fieldAfter(reason, event);
  return next ? { kind: "state", state: { ...state, reason: next } } : { kind: "ignored" };
}

const answered = (
  approval: PendingApproval,
  answer: Pick<ApprovalAnswer, "decision" | "message">,
): PanelStep<ApprovalState, ApprovalChoice> => ({
  kind: "choice",
  choice: { kind: "answer", answer: { ...boundTo(approval), ...answer } },
});

const boundTo = ({ threadId, toolCallId, digest }: PendingApproval) => ({ threadId, toolCallId, digest });

/** A command as it is; other arguments as JSON. */
function editable(approval: PendingApproval): { text: string; extension: "sh" | "json" } {
  const command = commandArgs(approval);
  if (command) return { text: command.command, extension: "sh" };
  return { text: JSON.stringify(approval.args, null, 2), extension: "json" };
}

export type EditedApproval =
  | { kind: "answer"; answer: ApprovalAnswer }
  /** The question stays. */
  | { kind: "unchanged" }
  | { kind: "problem"; problem: string };

/** The answer for what the user saved in the editor, which adds a line end to the last line. */
export function editedApproval(approval: PendingApproval, saved: string): EditedApproval {
  const edited = saved.replace(/\r?\n$/, "");
  const before = editable(approval).text;
  if (edited === before.replace(/\n$/, "") || edited.trim() === "") return { kind: "unchanged" };
  const command = commandArgs(approval);
  if (command) return editAnswer(approval, { ...command, command: edited });
  try {
    return editAnswer(approval, JSON.parse(edited) as Json);
  } catch (error) {
    return { kind: "problem", problem: `The arguments are not JSON: ${(error as Error).message}. Edit them again.` };
  }
}

const editAnswer = (approval: PendingApproval, args: Json): EditedApproval => ({
  kind: "answer",
  answer: { ...boundTo(approval), decision: "edit", args },
});
