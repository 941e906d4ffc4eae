import { CinchError } from "./errors.ts";
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
  checkSeq("toSeq", toSeq, thread.state.seq);
  const lost = await thread.read({ after: toSeq });
  const messages = lost.filter((event) => event.type === "message_end").length;
  if (dryRun) return { toSeq, messages };
  const cut = { type: "thread_rewound" as const, toSeq, files, rules: [], grants: [] };
  let done = false;
  while (!done) {
    await thread.command(({ turn }) => {
      return turn && !turn.aborting ? [{ type: "abort_requested", turnId: turn.turnId }] : null;
    });
    await thread.turnEnded();
    // Somebody may have started another turn meanwhile: that one has to end too.
    done = await thread.appendAlone(({ usage, turn }) => (turn ? null : [{ ...cut, usage }]));
  }
  return { toSeq, messages };
}

export function checkSeq(name: string, seq: number, last: number): void {
  if (Number.isInteger(seq) && seq >= 1 && seq <= last) return;
  throw new CinchError(
    "INVALID_INPUT",
    `${name} is a whole number from 1 to ${last}, the seq of an event of this thread.`,
  );
}
