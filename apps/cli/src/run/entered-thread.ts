import type { HarnessDisplayState, HarnessEvent, Session, Store } from "@cinch/core";
import type { ThreadChoice } from "../cli-command.ts";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import { shownPath } from "../threads/open-store.ts";
import { findThread } from "../threads/find-thread.ts";

/** How many threads `--continue` looks at. */
const RECENT = 20;

/** The thread of a run, its state when the run entered it, and whether another process was driving it. */
export interface EnteredThread {
  threadId: string;
  before: HarnessDisplayState;
  driven: boolean;
}

interface EnterRequest {
  session: Session;
  store: Store;
  thread: ThreadChoice;
  /** Of the database. */
  path: string;
  title: string;
  listener(event: HarnessEvent): void;
}

/** Enters the thread. The listener receives all events from then on. Throws `UsageError` if there is no such thread. */
export async function enterThread(request: EnterRequest): Promise<EnteredThread> {
  return request.thread.kind === "new" ? createThread(request) : openThread(request);
}

async function createThread({ session, title, listener }: EnterRequest): Promise<EnteredThread> {
  const { id: threadId } = await session.createThread({ title: short(title, 60) });
  session.subscribe(listener, { since: 0 });
  return { threadId, before: session.getDisplayState(), driven: false };
}

async function openThread({ session, store, thread, path, listener }: EnterRequest): Promise<EnteredThread> {
  const threadId = await threadOf({ session, store, thread, path });
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

async function threadOf({ session, store, thread, path }: Omit<EnterRequest, "title" | "listener">) {
  if (thread.kind === "id") return (await findThread(store, { id: thread.id, path })).id;
  const recent = await store.threads({ resourceId: session.resourceId, topLevel: true, limit: RECENT });
  // The app begins a thread when it is opened, and names it when the user has said something.
  const newest = recent.find(({ title }) => title !== "") ?? recent[0];
  if (newest) return newest.id;
  throw new UsageError(`There are no threads yet in ${shownPath(path)}. Start one: ${cinch} run "…"`);
}
