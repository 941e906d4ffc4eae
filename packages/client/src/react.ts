/** Hooks for React, Preact (as an alias of React) and ink. They take sessions and harnesses of this process, too. */
export { usePending, useThreads } from "./use-lists.ts";
export { useThread, type ThreadSource } from "./use-thread.ts";
export type { ThreadLists } from "./thread-list-store.ts";
