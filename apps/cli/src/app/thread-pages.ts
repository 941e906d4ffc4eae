import { setImmediate } from "node:timers/promises";
import type { HarnessMessage, Session } from "@cinch/core";
import { unfoldedLines } from "../views/unfolded.ts";
import type { PagerSource } from "./pager.ts";

/** So many messages are read from the store at once, */
const READ = 100;
/** and so many are rendered between two keys. */
const RENDERED = 10;

/** The current thread, everything unfolded. It opens at its end, and older messages are read when they are needed. */
export function threadSource(session: Pick<Session, "listMessages">, { title }: { title: string }): PagerSource {
  let messages: HarnessMessage[] = [];
  let before: number | undefined;
  return {
    title,
    from: "end",
    async older(size) {
      if (messages.length === 0) {
        messages = await session.listMessages({ limit: READ, ...(before === undefined ? {} : { before }) });
        before = messages[0]?.seq ?? before;
      }
      if (messages.length === 0) return null;
      // A key may have come while the last ones were rendered.
      await setImmediate();
      return messages.splice(-RENDERED).flatMap((message) => unfoldedLines(message, size));
    },
  };
}
