import type { AgentModes } from "../config/agent-modes.ts";
import type { Thread } from "./thread.ts";

/** How long to wait before a catalog that failed is asked again. */
const RETRY_MS = 1_000;

/** Finds the modes of a thread. While a catalog can't be reached, the thread is open but not driven, and the catalog is asked again. */
export async function findModes(thread: Thread, modes: AgentModes): Promise<void> {
  const { ports, state } = thread;
  try {
    ports.modes = await modes.ofThread(state);
  } catch (error) {
    if (state.agent) ports.modes = modes.top.without(state.agent);
    thread.report("The subagent could not be looked up", error);
    thread.later(RETRY_MS, () => {
      if (thread.isDeleted) return;
      const found = findModes(thread, modes).then(() => thread.wake());
      found.catch(() => undefined);
    });
  }
}
