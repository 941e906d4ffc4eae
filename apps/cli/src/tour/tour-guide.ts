import { TOUR_REQUEST, tourChapter, type TourChapter } from "@cinch/web";
import type { Guide } from "../app/guide.ts";

const HINTS: Record<TourChapter, string> = {
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

/** Leads through the story in the terminal. */
export const tourGuide: Guide = {
  text: TOUR_REQUEST,
  hint: (display) => HINTS[tourChapter(display)],
  escapeLeaves: (display) => ["start", "stopped", "undone"].includes(tourChapter(display)),
};
