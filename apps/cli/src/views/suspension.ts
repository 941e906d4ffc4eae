import type { Json, PendingSuspension } from "@cinch/core";
import type { Line } from "../terminal/line.ts";
import { gutterRows, isLong, rememberedRows, withContent } from "./gutter.ts";
import { laidOut, titleLine } from "./panel-layout.ts";
import type { Panel, PanelContext, PanelStep } from "./panel.ts";
import type { SuspensionChoice } from "./question.ts";
import { fieldAfter, fieldRow, fieldText, textField, type TextField } from "./text-field.ts";

export interface SuspensionState {
  suspension: PendingSuspension;
  field: TextField;
}

export const suspensionState = (suspension: PendingSuspension): SuspensionState => ({ suspension, field: textField() });

/** A tool of the user's own waits for data: what it says, and a field for the answer. */
export const suspensionPanel: Panel<SuspensionState, SuspensionChoice> = {
  reduce(state, event) {
    const { suspension, field } = state;
    const typed = fieldText(field).trim();
    if (event.type === "key" && event.key === "enter")
      return typed === "" ? { kind: "state", state } : answered(suspension, typed);
    if (event.type === "key" && event.key === "escape" && typed !== "")
      return { kind: "state", state: { ...state, field: textField() } };
    const next = fieldAfter(field, event);
    return next ? { kind: "state", state: { ...state, field: next } } : { kind: "ignored" };
  },
  view({ suspension, field }, context) {
    const title = titleLine(titleOf(suspension), "JSON or text, Enter", context);
    const above = withContent([title], suspensionLines(suspension, context), context);
    const { line, column } = fieldRow(field, context.width);
    return laidOut({ ...above, body: [line], at: 0, column: context.active ? column : undefined }, context);
  },
  inLines: ({ suspension }, context) => ({
    lines: [titleLine(titleOf(suspension), "", context), ...suspensionLines(suspension, context)],
    choices: [],
    typed: { prompt: "JSON or text", step: (typed) => answered(suspension, typed.trim()) },
  }),
};

const titleOf = ({ path }: PendingSuspension): string =>
  path.length === 0 ? "A tool waits for data" : `A tool waits for data in ${path.join(" › ")}`;

function answered(
  { threadId, toolCallId, seq }: PendingSuspension,
  typed: string,
): PanelStep<SuspensionState, SuspensionChoice> {
  const answer = { threadId, toolCallId, seq, resumeData: valueOf(typed) };
  return { kind: "choice", choice: { kind: "answer", answer } };
}

/** To be printed above the panel if `suspensionIsLong`. */
export const suspensionLines = (suspension: PendingSuspension, { width }: { width: number }): readonly Line[] =>
  rememberedRows(suspension, width, () => {
    const { toolName, suspendPayload } = suspension;
    const payload = typeof suspendPayload === "string" ? suspendPayload : JSON.stringify(suspendPayload, null, 2);
    return gutterRows(`${toolName}: ${payload}`, width);
  });

export const suspensionIsLong = (suspension: PendingSuspension, room: Pick<PanelContext, "width" | "rows">): boolean =>
  isLong(suspensionLines(suspension, room), room);

/** JSON where it is JSON, else the text itself. A number as a text is written in quotes. */
function valueOf(typed: string): Json {
  try {
    return JSON.parse(typed) as Json;
  } catch {
    return typed;
  }
}
