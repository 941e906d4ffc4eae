import type { HarnessDisplayState } from "@cinch/core";
import type { Guide } from "../app/guide.ts";
import { REQUEST } from "./shop.ts";

type Chapter = "start" | "plan" | "edit" | "command" | "asks" | "subagent" | "works" | "stopped" | "done" | "undone";

const HINTS: Record<Chapter, string> = {
  start: "Tour: the cart of this small shop is wrong. Enter sends the request. Esc leaves the tour at any time.",
  plan: "Tour: nothing is changed in plan mode. y approves the plan and goes on in build mode, r sends a remark.",
  edit: "Tour: this edit is not made yet; the diff shows what would be written. y approves it.",
  command: 'Tour: commands ask too. y runs it once, p remembers the pattern, so that "npm test" does not ask again.',
  asks: "Tour: y approves.",
  subagent: "Tour: a second agent reviews the work in a thread of its own.",
  works: "Tour: the agent works. What you type now steers it; Esc stops it.",
  stopped: "Tour: the turn was stopped, and nothing is lost. Send the request again, or leave with Esc.",
  done: "Tour: now undo all of it: Esc Esc, then Enter. Messages and files are reverted together.",
  undone: "Tour: the files are as they were. That was the tour; Esc leaves it.",
};

/** The journal of a thread in which nothing was said is shorter. */
const NEW_THREAD_EVENTS = 5;

/** Follows the story by the display state alone, so it can't get out of step with what the user does. */
export const tourGuide: Guide = {
  text: REQUEST,
  hint: (display) => HINTS[chapterOf(display)],
  escapeLeaves: (display) => ["start", "stopped", "undone"].includes(chapterOf(display)),
};

function chapterOf(display: HarnessDisplayState): Chapter {
  const { status, pendingApproval, pendingSuspensions, activeSubagents, messages, inbox, seq } = display;
  if (pendingApproval) return asked(pendingApproval.toolName);
  if (Object.keys(pendingSuspensions).length > 0) return "plan";
  if (status !== "idle" || inbox.some(({ dueAt }) => dueAt === null))
    return Object.values(activeSubagents).some(({ endedAt }) => endedAt === null) ? "subagent" : "works";
  if (messages.length === 0) return seq > NEW_THREAD_EVENTS ? "undone" : "start";
  return Object.keys(display.modifiedFiles).length > 0 && isComplete(display) ? "done" : "stopped";
}

function asked(toolName: string): Chapter {
  if (toolName === "edit_file") return "edit";
  return toolName === "execute" ? "command" : "asks";
}

const isComplete = ({ tasks }: HarnessDisplayState): boolean =>
  tasks.length > 0 && tasks.every(({ status }) => status === "completed");
