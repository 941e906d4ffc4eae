import { useSyncExternalStore } from "preact/compat";
import type { FileToSend } from "../thread/file-to-send.ts";

type Files = readonly FileToSend[];

const NONE: Files = [];
/** By the name of the composer. A storage of the browser is too small for them, so they last as long as the page. */
const attached = new Map<string, Files>();
const watchers = new Set<() => void>();

const subscribe = (watcher: () => void): (() => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const filesAt = (name: string): Files => attached.get(name) ?? NONE;

export function attach(name: string, files: Files): void {
  if (files.length > 0) attached.set(name, files);
  else attached.delete(name);
  for (const watcher of watchers) watcher();
}

/** What is attached in a composer, also after a look at another thread. */
export const useAttachedFiles = (name: string): Files => useSyncExternalStore(subscribe, () => filesAt(name));
