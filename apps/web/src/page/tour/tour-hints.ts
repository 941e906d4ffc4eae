import type { TourChapter } from "../../tour-chapter.ts";

/** What the user of the tour can do now, by the chapter of the story. */
export const TOUR_HINTS: Readonly<Record<TourChapter, string>> = {
  start:
    "The cart of this small shop is wrong. Send the request below. Nothing of yours is touched: the project is thrown away.",
  plan: "In plan mode nothing is changed. Approve the plan to go on in build mode, or ask for changes.",
  edit: "This edit is not made yet: the diff shows what would be written. Approve it.",
  command:
    "Commands ask, too. Approve runs this one once. “Always allow” remembers the pattern, so that it does not ask again.",
  asks: "Approve it, or decline it with a reason.",
  subagent: "A second agent reviews the work in a thread of its own. Details (⋯) show it.",
  works: "The agent works. What you send now steers it. Esc stops it.",
  stopped: "The turn was stopped, and nothing is lost. Send the request again, or leave the tour.",
  done: "Now undo all of it: “Rewind” below your message reverts the conversation and the files together.",
  undone: "The files are as they were. That was the tour.",
};
