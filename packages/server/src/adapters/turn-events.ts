import type { DurableEvent, HarnessEvent, Session } from "@cinch/core";

const WINDOW = 200;

/** The newest durable event of the thread that fits, up to the event `upTo`. */
export async function newestEvent(
  session: Session,
  fits: (event: DurableEvent) => boolean,
  upTo = session.getDisplayState().seq,
): Promise<DurableEvent | undefined> {
  for (let last = upTo; last > 0; last -= WINDOW) {
    const found = (await eventsBetween(session, Math.max(0, last - WINDOW), last)).findLast(fits);
    if (found) return found;
  }
  return undefined;
}

async function eventsBetween(session: Session, after: number, upTo: number): Promise<DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const page of pagesAfter(session, after)) {
    const inside = page.filter(({ seq }) => seq <= upTo);
    events.push(...inside);
    if (inside.length < page.length || page.at(-1)!.seq === upTo) break;
  }
  return events;
}

/** The durable events after the event `after`, page by page. */
export async function* pagesAfter(session: Session, after: number): AsyncGenerator<DurableEvent[], void, undefined> {
  for (let last = after; ;) {
    const page = await session.listEvents({ after: last, limit: WINDOW });
    if (page.length === 0) return;
    yield page;
    last = page.at(-1)!.seq;
  }
}

/** The `seq` before the first event of a turn. `undefined`: the thread has no such turn, or a rewind has reverted it. */
export async function beforeTurn(session: Session, turnId: string): Promise<number | undefined> {
  const isFirst = (event: DurableEvent) =>
    event.turnId === turnId &&
    ((event.type === "agent_start" && !event.resumed) ||
      (event.type === "input_accepted" && event.retry !== undefined));
  const first = await newestEvent(session, isFirst);
  return first && first.seq - 1;
}

/**
 * The events after the event `after`: those of the journal first, however many, and then those that happen, with the text that streams
 * already. `isNewest` is true for an event after which, for now, there are no others.
 */
export async function* eventsAfter(
  session: Session,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<{ event: HarnessEvent; isNewest: boolean }, void, undefined> {
  let held: DurableEvent | undefined;
  for await (const page of pagesAfter(session, after)) {
    for (const event of page) {
      if (held) yield { event: held as HarnessEvent, isNewest: false };
      held = event;
    }
    if (signal.aborted) return;
  }
  let seq = held?.seq ?? after;
  const isNewest = () => seq >= session.getDisplayState().seq;
  if (held) yield { event: held as HarnessEvent, isNewest: isNewest() };
  for await (const event of session.events({ since: seq, signal })) {
    if ("v" in event) ({ seq } = event);
    yield { event, isNewest: isNewest() };
  }
}
