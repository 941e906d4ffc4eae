import type { AgentModes } from "../config/agent-modes.ts";
import { withTimeout } from "../ports/clock.ts";
import type { Thread } from "./thread.ts";

/** How long to wait before a catalog that failed is asked again. */
const RETRY_MS = 1_000;

/**
 * Finds the modes of a thread. While a catalog fails, or takes long, the thread is open but not driven: a turn of it can only be ended.
 */
export async function findModes(thread: Thread, modes: AgentModes): Promise<void> {
  const { ports, state } = thread;
  ports.modes = modes.top;
  if (!state.agent) return;
  const found = lookUp(thread, modes).then(() => true);
  if (await withTimeout(ports.clock, found)) return;
  // It may have been found at the same moment.
  if (ports.modes === modes.top) ports.modes = modes.top.without(state.agent);
  const driven = found.then(() => thread.wake());
  driven.catch(() => undefined);
}

/** Never rejects. */
async function lookUp(thread: Thread, modes: AgentModes): Promise<void> {
  const { ports, state } = thread;
  try {
    ports.modes = await modes.ofThread(state);
  } catch (error) {
    if (state.agent) ports.modes = modes.top.without(state.agent);
    thread.report("The subagent could not be looked up", error);
    thread.later(RETRY_MS, () => {
      if (thread.isDeleted) return;
      const found = lookUp(thread, modes).then(() => thread.wake());
      found.catch(() => undefined);
    });
  }
}
