import { CinchError } from "./errors.ts";
import { refuseForeign } from "./input.ts";
import type { NewEvent } from "./events.ts";
import { yoloUpdate } from "./folds/control.ts";
import type { ThreadState } from "./folds/state.ts";
import type { Thread } from "./thread.ts";

export interface RewindOptions {
  /** Events up to this one stay in force. */
  toSeq: number;
  files?: boolean;
  /** Only say what would be taken back. */
  dryRun?: boolean;
}

export interface RewindResult {
  toSeq: number;
  /** How many messages are taken back. */
  messages: number;
}

/** Takes the conversation back. A turn that runs is aborted first; the journal keeps what was taken back. */
export async function rewindThread(
  thread: Thread,
  { toSeq, files = false, dryRun = false }: RewindOptions,
): Promise<RewindResult> {
  if (files)
    throw new CinchError(
      "INVALID_INPUT",
      "There is no workspace, so there are no files to take back. Leave files out.",
    );
  await thread.refresh();
  checkSeq("toSeq", toSeq, thread.state.seq);
  const lost = await thread.read({ after: toSeq });
  const messages = lost.filter((event) => event.type === "message_end").length;
  if (dryRun) return { toSeq, messages };
  refuseForeign(thread.state.foreign);
  let done = false;
  while (!done) {
    await thread.command(({ turn }) => {
      return turn && !turn.aborting ? [{ type: "abort_requested", turnId: turn.turnId }] : null;
    });
    await thread.turnEnded();
    // Somebody may have started another turn meanwhile: that one has to end too.
    done = await thread.appendAlone((state) => (state.turn ? null : [cut(state, { toSeq, files })]));
  }
  return { toSeq, messages };
}

/** What a rewind must not take back goes with it: the title, rules, grants, YOLO, and what was used up. */
function cut({ title, usage, spent, control }: ThreadState, to: { toSeq: number; files: boolean }): NewEvent {
  const { rules, grants } = control.policies;
  const state = yoloUpdate(control.policies);
  return { type: "thread_rewound", ...to, title, rules: [...rules], grants: [...grants], usage, spent, state };
}

export function checkSeq(name: string, seq: number, last: number): void {
  if (Number.isInteger(seq) && seq >= 1 && seq <= last) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${name} is a whole number from 1 to ${last}, the seq of an event of this thread.`,
  );
}
