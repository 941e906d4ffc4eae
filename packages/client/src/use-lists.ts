import type { ThreadApproval, ThreadRecord, ThreadSuspension } from "@cinch/core";
import { useSyncExternalStore } from "react";
import { ThreadListStore, type ThreadLists } from "./thread-list-store.ts";

/** The threads of a client or a harness, newest first. `undefined` until they are loaded. */
export const useThreads = (source: ThreadLists): readonly ThreadRecord[] | undefined =>
  useList(ThreadListStore.threadsOf(source));

/** What waits for a person, over all threads, oldest first. `undefined` until it is loaded. */
export const usePending = (source: ThreadLists): readonly (ThreadApproval | ThreadSuspension)[] | undefined =>
  useList(ThreadListStore.pendingOf(source));

const useList = <T>({ subscribe, read }: ThreadListStore<T>): T | undefined =>
  useSyncExternalStore(subscribe, read, read);
