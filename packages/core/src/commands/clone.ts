import { stamp, type NewEvent } from "../events/event-map.ts";
import { pathRulesField, yoloUpdate } from "../folds/control.ts";
import type { Folds } from "../folds/folds.ts";
import type { ReachableThreads } from "../thread/reachable-threads.ts";
import { signedBy, type SignedThread } from "../thread/signed-thread.ts";
import { controlInForce } from "./control-in-force.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import { refuseReverted } from "./refuse-reverted.ts";

export interface CloneOptions {
  /** If the resource has a thread with this id, no clone is created, and that thread is entered. Default: a new id. */
  id?: string;
  /** Default: the current thread. */
  sourceThreadId?: string;
  /** The last event that the clone inherits; default: the newest. */
  atSeq?: number;
  title?: string;
}

/**
 * Creates a clone that begins as its source was at `atSeq`, with the source's current rules: a top-level thread, also if the source is a subagent's. Returns the folds that the clone inherits;
 * `undefined` if it does not inherit the newest event.
 */
export async function cloneThread(
  { thread: source, by }: SignedThread,
  threads: ReachableThreads,
  { id: chosenId, atSeq, title }: CloneOptions,
): Promise<{ id: string; folds: Folds | undefined }> {
  // The clone must have the rules that other processes have set.
  await source.refresh();
  const { state, folds, ports } = source;
  refuseForeign(state.foreign);
  const seq = atSeq ?? state.seq;
  if (atSeq !== undefined) await refuseReverted(source, "atSeq", atSeq);
  const id = chosenId ?? ports.ids("thread");
  const { policies, modeId } = await controlInForce(source);
  const current = { rules: [...policies.rules], state: yoloUpdate(policies) };
  const parent = { threadId: source.id, seq };
  const cloned = { title: title ?? state.title, parent, ...current, ...pathRulesField(policies.pathRules) };
  const events: NewEvent[] = [{ type: "thread_cloned", ...cloned }];
  const { agent } = state;
  if (agent && modeId !== null) events.push({ type: "mode_changed", modeId, previousModeId: agent.modeId });
  const stamped = events.map((event) => stamp(signedBy(by, event), ports.clock.now()));
  const isNew = await threads.create({ threadId: id, resourceId: state.resourceId, events: stamped, afterSeq: seq });
  return { id, folds: isNew && seq === state.seq ? folds : undefined };
}
