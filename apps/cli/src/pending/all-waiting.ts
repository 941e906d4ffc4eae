import { newDisplayState, reduceDisplay, type HarnessEvent, type Store } from "@cinch/core";
import { lift, type DurableEvent } from "@cinch/core/journal";
import { waitingIn, type Waiting } from "./waiting.ts";

/** What waits, with the thread that a user knows: for a subagent, the one that its work is for. */
export type WaitingInThread = Waiting & { topThreadId: string; title: string };

const CHUNK = 250;

/** What waits for a person, over all threads, oldest first. */
export async function allWaiting(store: Store): Promise<WaitingInThread[]> {
  const tops = new Map((await store.threads({ topLevel: true })).map(({ id, title }) => [id, title]));
  const active = await store.threads({ active: true });
  const found = await Promise.all(
    active.map(async ({ id, title }) => {
      const topThreadId = await topOf(store, id, tops);
      const waiting = waitingIn(await newestTurn(store, id));
      return waiting.map((one) => ({ ...one, topThreadId, title: tops.get(topThreadId) ?? title }));
    }),
  );
  return found.flat().toSorted((one, other) => one.at - other.at || one.seq - other.seq);
}

async function topOf(store: Store, threadId: string, tops: ReadonlyMap<string, string>): Promise<string> {
  if (tops.has(threadId)) return threadId;
  const parentId = (await store.thread(threadId))?.parentId;
  return parentId ? topOf(store, parentId, tops) : threadId;
}

async function newestTurn(store: Store, id: string) {
  let events: DurableEvent[] = [];
  for (let upTo = Infinity; ;) {
    const page = await store.read(id, { upTo, limit: CHUNK, last: true });
    events = [...page, ...events];
    if (page.length < CHUNK || page.some(beginsTurn)) break;
    upTo = page[0]!.seq - 1;
  }
  const turn = events.slice(Math.max(0, events.findLastIndex(beginsTurn)));
  return turn.reduce((state, event) => reduceDisplay(state, lift(event) as HarnessEvent), newDisplayState(id));
}

const beginsTurn = (event: DurableEvent): boolean => event.type === "agent_start" && !event.resumed;
