import { CinchError } from "../errors.ts";
import { readEvent } from "../events/read-event.ts";
import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import { reduceDisplayAll } from "../folds/display.ts";
import { newDisplayState } from "../folds/display.ts";
import type { PendingApproval } from "../folds/display-state.ts";
import type { Store } from "../ports/store.ts";

/** A call that waits for an approval, with its thread. */
export interface ThreadApproval extends PendingApproval {
  title: string;
  resourceId: string;
}

const CHUNK = 250;

/** The calls of all threads that wait for an approval, oldest first. */
export async function pendingApprovals(store: Store): Promise<ThreadApproval[]> {
  const active = await store.threads({ active: true });
  const found = await Promise.all(
    active.map(async ({ id, title, resourceId }) => {
      const pending = await pendingOf(store, id).catch(unlessUnreadable);
      return pending.map((approval) => ({ ...approval, title, resourceId }));
    }),
  );
  return found.flat().toSorted((a, b) => a.at - b.at || a.seq - b.seq);
}

/** Only calls of the newest turn can be pending, so only that turn is folded. */
async function pendingOf(store: Store, id: string): Promise<PendingApproval[]> {
  let events: DurableEvent[] = [];
  for (let upTo = Infinity; ;) {
    const page = await store.read(id, { upTo, limit: CHUNK, last: true });
    events = [...page, ...events];
    const first = page[0];
    if (!first || page.length < CHUNK || page.some(beginsTurn)) break;
    upTo = first.seq - 1;
  }
  const since = events.findLastIndex(beginsTurn);
  const turn = events.slice(Math.max(0, since)).map((event) => readEvent(event) as HarnessEvent);
  return Object.values(reduceDisplayAll(newDisplayState(id), turn).pendingApprovals);
}

const beginsTurn = (event: DurableEvent): boolean => event.type === "agent_start" && !event.resumed;

/** A thread that was deleted meanwhile has no pending calls. A corrupt thread must not hide the pending calls of others. */
function unlessUnreadable(error: unknown): PendingApproval[] {
  if (error instanceof CinchError && (error.code === "THREAD_NOT_FOUND" || error.code === "CORRUPT")) return [];
  throw error;
}
