import type { Session } from "@cinch/core";
import { unfoldedLines } from "../views/unfolded.ts";
import type { PagerSource } from "./pager.ts";

/** So many messages are rendered in one piece, between two keys. */
const PAGE = 50;

/** The current thread, everything unfolded. It opens at its end, and older messages are read when they are needed. */
export function threadSource(session: Pick<Session, "listMessages">, { title }: { title: string }): PagerSource {
  let before: number | undefined;
  return {
    title,
    from: "end",
    async older(size) {
      const messages = await session.listMessages({ limit: PAGE, ...(before === undefined ? {} : { before }) });
      const [first] = messages;
      if (!first) return null;
      before = first.seq;
      return messages.flatMap((message) => unfoldedLines(message, size));
    },
  };
}
