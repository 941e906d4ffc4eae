import { existsSync } from "node:fs";
import type { HarnessDisplayState, HarnessEvent, Session, Store } from "@cinch/core";
import type { RunOptions } from "../args.ts";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";

/** The thread of a run, its state when the run entered it, and whether another process was driving it. */
export interface EnteredThread {
  threadId: string;
  before: HarnessDisplayState;
  driven: boolean;
}

interface EnterRequest {
  session: Session;
  store: Store;
  options: Pick<RunOptions, "thread" | "db">;
  title: string;
  listener(event: HarnessEvent): void;
}

/** `--thread` and `--continue` must not create an empty database. */
export function checkDatabase({ thread, db }: Pick<RunOptions, "thread" | "db">): void {
  if (thread.kind === "new" || existsSync(db)) return;
  throw new UsageError(`There are no threads yet: ${short(db)} does not exist. Start one: ${cinch} run "…"`);
}

/** Enters the thread. The listener receives all events from then on. Throws `UsageError` if there is no such thread. */
export async function enterThread(request: EnterRequest): Promise<EnteredThread> {
  return request.options.thread.kind === "new" ? createThread(request) : openThread(request);
}

async function createThread({ session, title, listener }: EnterRequest): Promise<EnteredThread> {
  const { id: threadId } = await session.createThread({ title: short(title, 60) });
  session.subscribe(listener, { since: 0 });
  return { threadId, before: session.getDisplayState(), driven: false };
}

async function openThread({ session, store, options, listener }: EnterRequest): Promise<EnteredThread> {
  const threadId = await threadOf({ session, store, options });
  const { status } = await store.lease(threadId);
  let before: HarnessDisplayState | undefined;
  // Entering a thread resumes its interrupted turn, so the listener must subscribe first.
  session.subscribe((event) => {
    if (event.type === "resync") before ??= event.displayState as HarnessDisplayState;
    listener(event);
  });
  await session.switchThread({ threadId });
  return { threadId, before: before ?? session.getDisplayState(), driven: status === "held" };
}

async function threadOf({ session, store, options }: Pick<EnterRequest, "session" | "store" | "options">) {
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
