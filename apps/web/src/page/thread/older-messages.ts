import type { HarnessMessage } from "@cinch/core";
import { MESSAGES_SHOWN } from "@cinch/core/display";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSeat } from "../page-context.ts";

const PAGE = 50;
type Messages = readonly HarnessMessage[];

interface OlderMessages {
  /** Those of the display, after the older ones that were loaded. */
  all: Messages;
  hasOlder: boolean;
  /** `add` shows them. */
  load: (add: (change: () => void) => void) => Promise<void>;
}

/** The display has the newest messages. Older ones are loaded page by page. */
export function useOlderMessages(messages: Messages): OlderMessages {
  const seat = useSeat();
  const [older, setOlder] = useState<Messages>([]);
  const [hasMore, setHasMore] = useState(true);
  const firstSeq = messages[0]?.seq ?? Infinity;
  const all = useMemo(() => [...older.filter(({ seq }) => seq < firstSeq), ...messages], [older, messages]);
  const before = useRef(messages);
  // Before it is drawn: what leaves the display, because there are newer messages, is older than they are.
  useLayoutEffect(() => {
    const last = before.current;
    before.current = messages;
    const left = last.filter(({ seq }) => seq < firstSeq);
    // A rewind may have reverted what was loaded: then the display begins with earlier messages, or has fewer.
    const isRewound = firstSeq < (last[0]?.seq ?? Infinity) || messages.length < last.length;
    // After a long time without a connection, there may be others between.
    const isApart = left.length === last.length;
    if (isRewound || isApart) setOlder([]);
    else if (left.length > 0) setOlder((known) => (known.length === 0 ? known : [...known, ...left]));
  }, [messages]);
  const load: OlderMessages["load"] = async (add) => {
    const page = await seat.listMessages({ limit: PAGE, before: all[0]!.seq });
    add(() => {
      setOlder((known) => [...page, ...known]);
      setHasMore(page.length === PAGE);
    });
  };
  return { all, hasOlder: older.length > 0 ? hasMore : messages.length >= MESSAGES_SHOWN, load };
}
