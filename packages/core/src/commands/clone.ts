import { stamp, type NewEvent } from "../events/event-map.ts";
import { yoloUpdate } from "../folds/control.ts";
import type { Folds } from "../folds/folds.ts";
import type { Thread } from "../thread/thread.ts";
import { checkSeq } from "./rewind.ts";

export interface CloneOptions {
  /** Without it the current thread is cloned. */
  sourceThreadId?: string;
  /** The last event that the clone inherits. Without it, all. */
  atSeq?: number;
  title?: string;
}

/** Makes a clone that begins as its source was at `atSeq`, with the rules of now. `folds`: what it inherits, if that is at hand. */
export async function cloneThread(
  source: Thread,
  { atSeq, title }: CloneOptions,
): Promise<{ id: string; folds: Folds | undefined }> {
  // Rules that another process has set by now hold in the clone.
  await source.refresh();
  const { state, folds, ports } = source;
  const seq = atSeq ?? state.seq;
  checkSeq("atSeq", seq, state.seq);
  const id = ports.ids("thread");
  const { policies } = state.control;
  const now = { rules: [...policies.rules], state: yoloUpdate(policies) };
  const parent = { threadId: source.id, seq };
  const event: NewEvent = { type: "thread_cloned", title: title ?? state.title, parent, ...now };
  await ports.store.append(id, [stamp(event, ports.clock.now())], { afterSeq: seq });
  return { id, folds: seq === state.seq ? folds : undefined };
}
