/** What authors of stores need: the port, and a store in memory to extend. */
export { needsLease, type DurableEvent, type StampedEvent } from "./events/event-map.ts";
export { MemoryData, MemoryStore, threadNotFound } from "./ports/memory-store.ts";
export type {
  AppendOptions,
  AppendResult,
  Blob,
  DraftPiece,
  Lease,
  SavedFold,
  Store,
  ThreadQuery,
  ThreadRecord,
} from "./ports/store.ts";
