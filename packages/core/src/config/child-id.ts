import { hashOf } from "../ports/hash.ts";

/** The thread of a new child: the same whenever its call runs again. */
export async function childThreadId(runId: string): Promise<string> {
  return `sub_${(await hashOf(new TextEncoder().encode(runId))).slice(0, 24)}`;
}
