import type { NewEvent, RunStatus } from "../events/event-map.ts";
import type { Usage } from "../events/message.ts";
import { noUsage } from "../events/usage.ts";
import type { Run } from "../folds/runs.ts";
import type { Store } from "../ports/store.ts";

/** How a run ended, and what its call reports. */
export interface EndedRun {
  status: RunStatus;
  content: string;
  isError: boolean;
  durationMs: number;
  usage: Usage;
  cost: number | null;
}

/** The end of a run that used nothing. */
export const failedRun = (status: RunStatus, content: string): EndedRun => ({
  status,
  content,
  isError: true,
  durationMs: 0,
  usage: noUsage,
  cost: 0,
});

export const cancelledBeforeStart = failedRun("cancelled", "Cancelled before it began.");

/** Whether the run has begun in its child. The thread of a session is there before the run that resumes it. */
export const hasStarted = async (store: Store, { runId, childThreadId }: Run): Promise<boolean> =>
  (await store.thread(childThreadId)) !== undefined && (await store.findInput(childThreadId, runId)) !== undefined;

/** The events that end a run. Those of a run in the background stand next to each other. */
export function endRun(run: Run, { content, ...end }: EndedRun): NewEvent[] {
  const { runId, toolCallId, turnId, agentName, childThreadId, path, background } = run;
  const of = { runId, childThreadId, turnId };
  const call = { toolCallId, toolName: "task", agentName, path };
  const ended: NewEvent = { type: "subagent_end", ...of, ...call, result: { content }, ...end };
  if (!background) return [ended];
  const { agentId } = background;
  const settled: NewEvent = { type: "background_settled", runId, childThreadId, agentId, status: end.status };
  return [{ ...ended, background: true }, settled];
}
