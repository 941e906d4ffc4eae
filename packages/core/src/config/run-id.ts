import { hashOf } from "../ports/hash.ts";

/** The id of a run is the key of its call: the thread and the `seq` of its `tool_start`. */
export const seqOf = (runId: string): number => Number(runId.slice(runId.lastIndexOf(":") + 1));

/** The thread whose call started the run. A clone has inherited runs of its source. */
export const ownerOf = (runId: string): string => runId.slice(0, runId.lastIndexOf(":"));

/** The id of the input that tells the parent of the end of a background run. */
export const noteId = (runId: string): string => `${runId}:end`;

/** The thread of a new child: the same whenever its call runs again. */
export async function childThreadId(runId: string): Promise<string> {
  return `sub_${(await hashOf(new TextEncoder().encode(runId))).slice(0, 24)}`;
}
