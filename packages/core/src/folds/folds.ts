import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import { reduceDisplayAll } from "./display.ts";
import { newDisplayState, type HarnessDisplayState } from "./display-state.ts";
import { newThreadState, reduceThreadAll, type ThreadState } from "./state.ts";

/** What a journal folds into when its thread is opened. Values that never change in place, so that they can be shared. */
export interface Folds {
  readonly state: ThreadState;
  readonly display: HarnessDisplayState;
}

export const newFolds = (threadId: string): Folds => ({ state: newThreadState, display: newDisplayState(threadId) });

export function reduceAll({ state, display }: Folds, events: readonly DurableEvent[]): Folds {
  return { state: reduceThreadAll(state, events), display: reduceDisplayAll(display, events as HarnessEvent[]) };
}

/** The display as durable events alone have made it: what only live events have said is left out. */
export function withoutLive(display: HarnessDisplayState): HarnessDisplayState {
  const { activeTools } = display;
  const tools = Object.entries(activeTools).map(([id, tool]) => [id, { ...tool, partialResult: null }] as const);
  return { ...display, currentMessage: null, toolInputBuffers: {}, activeTools: Object.fromEntries(tools) };
}
