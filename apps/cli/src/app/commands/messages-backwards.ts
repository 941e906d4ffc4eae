import type { HarnessMessage, Session } from "@cinch/core";

/** How many messages are read at once. */
const PAGE = 200;

/** The messages of the thread, newest first. A long turn may have more messages than a page, so the caller decides when to stop. */
export async function* messagesBackwards(session: Pick<Session, "listMessages">): AsyncGenerator<HarnessMessage> {
  let page = await session.listMessages({ limit: PAGE });
  for (;;) {
    yield* page.toReversed();
    const [oldest] = page;
    if (!oldest || page.length < PAGE) return;
    page = await session.listMessages({ limit: PAGE, before: oldest.seq });
  }
}
