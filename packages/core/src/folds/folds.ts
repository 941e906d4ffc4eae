import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import { newParts, reducePartsAll, type DisplayParts } from "./display-parts.ts";
import { newThreadState, reduceThreadAll, type ThreadState } from "./state.ts";
import type { Transcript } from "./transcript.ts";

/** The folds that are computed when a thread is opened. They are never changed in place, so that they can be shared. */
export interface Folds {
  readonly state: ThreadState;
  readonly parts: DisplayParts;
}

/** What a clone inherits of its source: its folds, and the fold that becomes the prompt, if the source has it in memory. */
export interface Inherited extends Folds {
  readonly transcript?: Transcript | undefined;
}

export const newFolds = (threadId: string): Folds => ({ state: newThreadState, parts: newParts(threadId) });

export function reduceAll({ state, parts }: Folds, events: readonly DurableEvent[]): Folds {
  return { state: reduceThreadAll(state, events), parts: reducePartsAll(parts, events as HarnessEvent[]) };
}
