import type { Session, Store } from "@cinch/core";
import type { AppOptions } from "../cli-command.ts";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";
import { findThread } from "../threads/find-thread.ts";

interface Start {
  session: Session;
  store: Store;
  db: string;
}

/** Enters the thread that the command line names. Throws `UsageError` if there is none. A new one, and the one to `pick`, the app enters itself. */
export async function enterAtStart(thread: AppOptions["thread"], { session, store, db }: Start): Promise<void> {
  switch (thread.kind) {
    case "new":
    case "pick":
      return;
    case "newest":
      await session.switchThread({ threadId: await newestThread(session, db) });
      return;
    case "id": {
      const { id: threadId } = await findThread(store, { id: thread.id, path: db });
      await session.switchThread({ threadId });
    }
  }
}

/** A thread without a title has no message: another terminal has just opened it. */
async function newestThread(session: Session, db: string): Promise<string> {
  const recent = await session.listThreads({ limit: 20 });
  const newest = recent.find(({ title }) => title !== "");
  if (!newest) throw new UsageError(`There are no threads yet in ${short(db)}. Start one: ${cinch}`);
  return newest.id;
}
