/** What the user of the tour asks of the agent. */
export const TOUR_REQUEST = "The total of the cart is wrong. Find out why, and fix it.";

/** Where a user is in the story of the tour. */
export type TourChapter =
  | "start"
  | "plan"
  | "edit"
  | "command"
  | "asks"
  | "subagent"
  | "works"
  | "stopped"
  | "done"
  | "undone";

/** The fields of a display state by which the story is followed. */
export interface TourDisplay {
  status: string;
  pendingApproval: { toolName: string } | null;
  pendingSuspensions: object;
  activeSubagents: Readonly<Record<string, { endedAt: number | null }>>;
  messages: readonly unknown[];
  inbox: readonly { dueAt: number | null }[];
  modifiedFiles: object;
  tasks: readonly { status: string }[];
  seq: number;
}

/** The journal of a thread in which nothing was said is shorter. */
const NEW_THREAD_EVENTS = 5;

/** Follows the story by the display state alone, so it can't get out of step with what the user does. */
export function tourChapter(display: TourDisplay): TourChapter {
  const { status, pendingApproval, pendingSuspensions, activeSubagents, messages, inbox, seq } = display;
  if (pendingApproval) return asked(pendingApproval.toolName);
  if (Object.keys(pendingSuspensions).length > 0) return "plan";
  if (status !== "idle" || inbox.some(({ dueAt }) => dueAt === null))
    return Object.values(activeSubagents).some(({ endedAt }) => endedAt === null) ? "subagent" : "works";
  if (messages.length === 0) return seq > NEW_THREAD_EVENTS ? "undone" : "start";
  return Object.keys(display.modifiedFiles).length > 0 && isComplete(display) ? "done" : "stopped";
}

function asked(toolName: string): TourChapter {
  if (toolName === "edit_file") return "edit";
  return toolName === "execute" ? "command" : "asks";
}

const isComplete = ({ tasks }: TourDisplay): boolean =>
  tasks.length > 0 && tasks.every(({ status }) => status === "completed");
