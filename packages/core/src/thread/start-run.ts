import { stamp, type NewEvent } from "../events/event-map.ts";
import { hasQueued } from "../folds/inbox.ts";
import type { Run } from "../folds/runs.ts";
import type { HeldRule } from "../permissions/rule.ts";
import type { Thread } from "./thread.ts";

const TITLE_CHARS = 80;

/** Appends the input of the run to the thread of its session. False if the session is at work on something else. */
export async function resumeSession({ runId, task, input = task }: Run, child: Thread): Promise<boolean> {
  const isStarted = (await child.ports.store.findInput(child.id, runId)) !== undefined;
  if (isStarted) {
    // By another process, whose event this one may not have read yet: without it, the input would count as removed.
    await child.refresh();
    return true;
  }
  const isBusy = await child.command(({ turn, inbox, named }) => {
    if (named.includes(runId)) return { events: [], result: false };
    if (turn || hasQueued(inbox)) return { events: [], result: true };
    return { events: [namedInput(runId, input)], result: false };
  });
  return !isBusy;
}

export const namedInput = (runId: string, content: string): NewEvent<"input_accepted"> => ({
  type: "input_accepted",
  inputId: runId,
  delivery: "send",
  content,
  named: true,
});

/** The rules of the session that a run copies. Those of the threads above it count anyway. */
async function copiedRules({ session, source, childThreadId }: Run, { ports }: Thread): Promise<HeldRule[]> {
  const isNeeded = session === "fork" && source && !(await ports.store.thread(childThreadId));
  if (!isNeeded) return [];
  return ports.threads.visit(source.threadId, async ({ state }) => [...state.control.policies.rules]);
}

/** Creates the thread of the child, with the input of the run. */
export async function createChild(run: Run, owner: Thread): Promise<void> {
  const { store, clock, wakes } = owner.ports;
  const rules = await copiedRules(run, owner);
  const { runId, childThreadId, agentName, path, task, modeId, modelId, depth, toolCallId, seq, source } = run;
  const { agent: self, resourceId } = owner.state;
  const title = `${agentName}: ${task.trim().split("\n", 1)[0]}`.slice(0, TITLE_CHARS);
  const agent = { path, owner: owner.id, rootThreadId: self?.rootThreadId ?? owner.id, modeId, depth };
  const first: NewEvent = source
    ? { type: "thread_cloned", title, parent: { ...source, toolCallId }, agent, rules, state: {} }
    : {
        type: "thread_created",
        title,
        resourceId,
        parent: { threadId: owner.id, seq, toolCallId },
        agent,
        modeId,
        ...(owner.display.yolo ? { yolo: true } : {}),
      };
  const events: NewEvent[] = [
    first,
    ...(modelId === undefined ? [] : [{ type: "model_changed" as const, modelId, scope: "thread" as const, modeId }]),
    namedInput(runId, run.input ?? task),
  ];
  const stamped = events.map((event) => stamp(event, clock.now()));
  // If the thread exists, an earlier attempt has started the run.
  const options = { afterSeq: source?.seq ?? 0, active: true, awake: true };
  const { kind } = await store.append(childThreadId, stamped, options);
  if (kind === "appended") wakes?.send(childThreadId);
}
