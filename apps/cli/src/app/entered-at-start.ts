import type { Session, Store } from "@cinch/core";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";

/** The thread that the app begins with. `pick`: the user chooses one in the app. */
export type StartThread = { kind: "new" | "newest" | "pick" } | { kind: "id"; id: string };

interface Start {
  session: Session;
  store: Store;
  db: string;
}

/** Enters the thread. Throws `UsageError` if there is no such thread. */
export async function enterAtStart(thread: StartThread, { session, store, db }: Start): Promise<void> {
  switch (thread.kind) {
    case "new":
      await session.createThread();
      return;
    case "pick":
      return;
    case "newest": {
      // A thread without a title has no message: another terminal has just opened it.
      const recent = await session.listThreads({ limit: 20 });
      const newest = recent.find(({ title }) => title !== "");
      if (!newest) throw new UsageError(`There are no threads yet in ${short(db)}. Start one: ${cinch}`);
      await session.switchThread({ threadId: newest.id });
      return;
    }
    case "id": {
      if (await store.thread(thread.id)) {
        await session.switchThread({ threadId: thread.id });
        return;
      }
      const recent = await session.listThreads({ limit: 3 });
      const list = recent.map(({ id, title }) => `\n  ${id}  ${short(title, 60)}`).join("");
      const known = list === "" ? "" : `\nThe newest are:${list}`;
      throw new UsageError(`There is no thread "${short(thread.id)}" in ${short(db)}.${known}`);
    }
  }
}
