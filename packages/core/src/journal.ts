/** For programs that read journals: the event map with its schemas, and the folds of a thread. */
export {
  durableTypes,
  eventMap,
  isForeign,
  lift,
  stamp,
  type DurableEvent,
  type NewEvent,
  type StampedEvent,
} from "./events/event-map.ts";
export { besideTurns } from "./events/beside-turns.ts";
export type { EventEntry } from "./events/event-entry.ts";
export { addUsage, noUsage } from "./events/usage.ts";
export { reduceInbox } from "./folds/inbox.ts";
export { newThreadState, reduceThread, type ThreadState } from "./folds/state.ts";
export { emptyTranscript, reduceTranscript, type Transcript } from "./folds/transcript.ts";
export { toPrompt, type Head } from "./model/prompt.ts";
