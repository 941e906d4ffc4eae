/** What authors of stores need: the port, and a store in memory to extend. */
export { needsLease, type DurableEvent, type StampedEvent } from "./events/event-map.ts";
export { eventText, offloadedBlob } from "./ports/event-text.ts";
export { MemoryData } from "./ports/memory-data.ts";
export { MemoryStore } from "./ports/memory-store.ts";
export { threadNotFound } from "./ports/memory-thread.ts";
export { questionChange, ThreadChanges } from "./ports/thread-changes.ts";
export { normalize, queryWords, wordsOf } from "./ports/words.ts";
export type {
  AppendOptions,
  AppendResult,
  Blob,
  DraftPiece,
  EventQuery,
  FoundEvent,
  Lease,
  SavedFold,
  Store,
  StoreLoad,
  StoreMetrics,
  StrandedQuery,
  StrandedThread,
  ThreadListChange,
  ThreadQuery,
  ThreadRecord,
} from "./ports/store.ts";
