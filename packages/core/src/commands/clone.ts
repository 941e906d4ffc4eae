import { stamp, type NewEvent } from "../events/event-map.ts";
import { pathRulesField, yoloUpdate } from "../folds/control.ts";
import type { Folds } from "../folds/folds.ts";
import type { Thread } from "../thread/thread.ts";
import { pathRulesInForce } from "./path-rules-in-force.ts";
import { checkSeq } from "./rewind.ts";

export interface CloneOptions {
  /** Default: the current thread. */
  sourceThreadId?: string;
  /** The last event that the clone inherits; default: the newest. */
  atSeq?: number;
  title?: string;
}

/**
 * Creates a clone that begins as its source was at `atSeq`, with the source's current rules. Returns the folds that the clone inherits;
 * `undefined` if it does not inherit the newest event.
 */
export async function cloneThread(
  source: Thread,
  { atSeq, title }: CloneOptions,
): Promise<{ id: string; folds: Folds | undefined }> {
  // The clone must have the rules that other processes have set.
  await source.refresh();
  const { state, folds, ports } = source;
  const seq = atSeq ?? state.seq;
  checkSeq("atSeq", seq, state.seq);
  const id = ports.ids("thread");
  const { policies } = state.control;
  const current = { rules: [...policies.rules], state: yoloUpdate(policies) };
  const parent = { threadId: source.id, seq };
  const inForce = pathRulesField(await pathRulesInForce(source));
  const event: NewEvent = { type: "thread_cloned", title: title ?? state.title, parent, ...current, ...inForce };
  await ports.store.append(id, [stamp(event, ports.clock.now())], { afterSeq: seq });
  return { id, folds: seq === state.seq ? folds : undefined };
}
