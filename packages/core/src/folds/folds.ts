import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import { newParts, reducePartsAll, type DisplayParts } from "./display-parts.ts";
import { newThreadState, reduceThreadAll, type ThreadState } from "./state.ts";

/** What a journal folds into when its thread is opened. Values that never change in place, so that they can be shared. */
export interface Folds {
  readonly state: ThreadState;
  readonly parts: DisplayParts;
}

export const newFolds = (threadId: string): Folds => ({ state: newThreadState, parts: newParts(threadId) });

export function reduceAll({ state, parts }: Folds, events: readonly DurableEvent[]): Folds {
  return { state: reduceThreadAll(state, events), parts: reducePartsAll(parts, events as HarnessEvent[]) };
}
