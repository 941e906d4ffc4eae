import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { KeyEvent } from "../../src/terminal/keys.ts";
import type { PendingApproval } from "@cinch/core";
import type { Panel, PanelContext, PanelStep } from "../../src/views/panel.ts";
import { plainText } from "../text/shown.ts";

export const room = (width: number, rows = 18): PanelContext => ({ width, rows, now: 0, unicode: true, active: true });

export const key = (name: string): KeyEvent => ({ type: "key", key: name });
export const typed = (text: string): KeyEvent[] => Array.from(text, (char) => ({ type: "text", text: char }));

/** What the last key led to. Each key before it must have led to a state. */
export function after<S, C>(panel: Panel<S, C>, start: S, events: readonly KeyEvent[]): PanelStep<S, C> {
  let step: PanelStep<S, C> = { kind: "state", state: start };
  for (const event of events) {
    assert.equal(step.kind, "state");
    step = panel.reduce((step as { state: S }).state, event);
  }
  return step;
}

export function stateAfter<S, C>(panel: Panel<S, C>, start: S, events: readonly KeyEvent[]): S {
  const step = after(panel, start, events);
  assert.equal(step.kind, "state");
  return (step as { state: S }).state;
}

export function choiceAfter<S, C>(panel: Panel<S, C>, start: S, events: readonly KeyEvent[]): C {
  const step = after(panel, start, events);
  assert.equal(step.kind, "choice");
  return (step as { choice: C }).choice;
}

export const shownRows = <S, C>(panel: Panel<S, C>, state: S, context: PanelContext): string[] =>
  panel.view(state, context).lines.map(plainText);

export const approval = (fields: Partial<PendingApproval> = {}): PendingApproval => ({
  threadId: "t",
  toolCallId: "call",
  toolName: "execute",
  args: { command: "npm test -- --grep sum" },
  preview: null,
  skill: null,
  category: "execute",
  digest: "d1",
  suggestion: "npm test *",
  decisions: ["approve", "decline", "edit", "always_allow_tool", "always_allow_category"],
  path: ["build", "reviewer"],
  seq: 7,
  at: 0,
  ...fields,
});

export const suspension = <P>(suspendPayload: P, toolName = "ask_user") => ({
  threadId: "t",
  path: [],
  toolCallId: "call",
  toolName,
  args: {},
  suspendPayload,
  seq: 7,
  at: 0,
});

/** Compares with a file, or with GOLDEN=write makes it: read it before you commit it. */
export function assertGoldenPanels(name: string, rows: readonly string[]): void {
  const file = join(import.meta.dirname, "golden", name);
  const actual = `${rows.join("\n")}\n`;
  if (process.env["GOLDEN"] === "write") writeFileSync(file, actual);
  assert.equal(actual, readFileSync(file, "utf8"));
}
