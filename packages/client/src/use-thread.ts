import type { HarnessDisplayState, HarnessEvent } from "@cinch/core";
import { useCallback, useRef, useSyncExternalStore } from "react";

/** What `useThread` needs of a session. */
export interface ThreadSource {
  subscribe(listener: (event: HarnessEvent) => void): () => void;
  getDisplayState(): HarnessDisplayState;
}

const CHANGES: ReadonlySet<string> = new Set(["display_state_changed", "resync", "thread_changed", "thread_deleted"]);

/**
 * The display of the session's thread. The component is drawn again when it changes, at most once per tick. `select` picks a part of it:
 * then only when that part changes. Plain objects and arrays are compared field by field.
 */
export function useThread(session: ThreadSource): HarnessDisplayState;
export function useThread<T>(session: ThreadSource, select: (display: HarnessDisplayState) => T): T;
export function useThread<T>(session: ThreadSource, select = same as (display: HarnessDisplayState) => T): T {
  const last = useRef<{ display: HarnessDisplayState; select: unknown; value: T } | null>(null);
  const subscribe = useCallback(
    (changed: () => void) => session.subscribe(({ type }) => CHANGES.has(type) && changed()),
    [session],
  );
  const read = () => {
    const display = session.getDisplayState();
    const known = last.current;
    if (known?.display === display && known.select === select) return known.value;
    const next = select(display);
    const value = known && isEqual(known.value, next) ? known.value : next;
    last.current = { display, select, value };
    return value;
  };
  return useSyncExternalStore(subscribe, read, read);
}

const same = (display: unknown): unknown => display;

function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b)) return false;
  const [before, after] = [Object.entries(a), b as Record<string, unknown>];
  return before.length === Object.keys(b).length && before.every(([key, value]) => Object.is(value, after[key]));
}

/** It has nothing but its fields. A set, a map or a date has more. */
const isPlain = (value: unknown): value is object =>
  !!value && [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value) as null);
