import type { Store, ThreadRecord } from "@cinch/core";
import { readThread } from "../../export/index.ts";
import type { Line } from "../../terminal/line.ts";
import { unfoldedLines } from "../../views/unfolded.ts";

/** A thread that this session does not have open, whole. */
export async function transcriptLines(store: Store, record: ThreadRecord, screen: { width: number }): Promise<Line[]> {
  const { messages } = await readThread(store, record);
  return messages.flatMap((message) => unfoldedLines(message, screen));
}
