import { existsSync } from "node:fs";
import type { HarnessDisplayState, HarnessEvent, Session, Store } from "@cinch/core";
import type { RunOptions } from "./args.ts";
import { UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";
import { short } from "./terminal/plain.ts";

/** Where a run sits down: the thread as it was at that moment, and whether somebody else is driving it. */
export interface Seat {
  threadId: string;
  before: HarnessDisplayState;
  driven: boolean;
}

export interface SeatRequest {
  session: Session;
  store: Store;
  options: Pick<RunOptions, "thread" | "db">;
  title: string;
  listener(event: HarnessEvent): void;
}

/** `--thread` and `--continue` must not leave an empty database behind where there was none. */
export function checkDatabase({ thread, db }: Pick<RunOptions, "thread" | "db">): void {
  if (thread.kind === "new" || existsSync(db)) return;
  throw new UsageError(`There are no threads yet: ${short(db)} does not exist. Start one: ${cinch} run "…"`);
}

/** Takes the seat, and from then on tells the listener everything. Throws `UsageError` if there is no such thread. */
export async function takeSeat(request: SeatRequest): Promise<Seat> {
  return request.options.thread.kind === "new" ? newSeat(request) : knownSeat(request);
}

async function newSeat({ session, title, listener }: SeatRequest): Promise<Seat> {
  const { id: threadId } = await session.createThread({ title: short(title, 60) });
  session.subscribe(listener, { since: 0 });
  return { threadId, before: session.getDisplayState(), driven: false };
}

async function knownSeat({ session, store, options, listener }: SeatRequest): Promise<Seat> {
  const threadId = await threadOf({ session, store, options });
  const { status } = await store.lease(threadId);
  let before: HarnessDisplayState | undefined;
  // A cut-off turn goes on as soon as somebody sits down, so the listener has to be there before that.
  session.subscribe((event) => {
    if (event.type === "resync") before ??= event.displayState as HarnessDisplayState;
    listener(event);
  });
  await session.switchThread({ threadId });
  return { threadId, before: before ?? session.getDisplayState(), driven: status === "held" };
}

async function threadOf({ session, store, options }: Pick<SeatRequest, "session" | "store" | "options">) {
  const { thread, db } = options;
  const recent = await store.threads({ resourceId: session.resourceId, topLevel: true, limit: 3 });
  if (thread.kind === "id") {
    if (await store.thread(thread.id)) return thread.id;
    const list = recent.map(({ id, title }) => `\n  ${id}  ${short(title, 60)}`).join("");
    const known = list === "" ? "" : `\nThe newest are:${list}`;
    throw new UsageError(`There is no thread "${short(thread.id)}" in ${short(db)}.${known}`);
  }
  const [newest] = recent;
  if (newest) return newest.id;
  throw new UsageError(`There are no threads yet in ${short(db)}. Start one: ${cinch} run "…"`);
}
