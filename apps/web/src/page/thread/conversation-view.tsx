import type { ActiveTool, HarnessMessage } from "@cinch/core";
import { MESSAGES_SHOWN } from "@cinch/core/display";
import { useThread } from "@cinch/client/react";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCommand, useSeat } from "../page-context.ts";
import { ActivityLine } from "./activity-line.tsx";
import { ConversationEntry } from "./conversation-entry.tsx";
import { MessageView } from "./message.tsx";

const NO_CALLS: Readonly<Record<string, ActiveTool>> = {};
/** A reader who is this near the end wants to stay there. */
const NEAR_END = 60;
const PAGE = 50;

/** All that was said. It follows the end only while the reader is there: scrolling is never taken away. */
export function ConversationView({ onRewind }: { onRewind: (message: HarnessMessage) => void }): VNode {
  const seat = useSeat();
  const display = useThread(seat);
  const run = useCommand();
  const [older, setOlder] = useState<readonly HarnessMessage[]>([]);
  const [isAtEnd, setAtEnd] = useState(true);
  const list = useRef<HTMLDivElement>(null);
  const { messages, currentMessage, activeTools, status } = display;
  const [hasMore, setHasMore] = useState(true);
  const first = older[0] ?? messages[0];
  const hasOlder = older.length > 0 ? hasMore : messages.length >= MESSAGES_SHOWN;
  const all = [...older.filter(({ seq }) => seq < (messages[0]?.seq ?? Infinity)), ...messages];
  useLayoutEffect(() => {
    const box = list.current;
    if (box && isAtEnd) box.scrollTop = box.scrollHeight;
  });
  // A rewind may have reverted what was loaded.
  const isShorter = messages.length < MESSAGES_SHOWN;
  useEffect(() => setOlder([]), [seat, isShorter]);
  // A question or a longer composer leaves less room for the conversation.
  useEffect(() => {
    const box = list.current!;
    const resized = new ResizeObserver(() => void (isAtEnd && (box.scrollTop = box.scrollHeight)));
    resized.observe(box);
    return () => resized.disconnect();
  }, [isAtEnd]);
  const top = useRef(0);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = list.current!;
    const isUp = scrollTop < top.current;
    top.current = scrollTop;
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) setAtEnd(true);
    // Only a reader scrolls up: what the page itself does leads to the end.
    else if (isUp) setAtEnd(false);
  };
  const loadOlder = () =>
    run(async () => {
      const page = await seat.listMessages({ limit: PAGE, before: first!.seq });
      const before = list.current!.scrollHeight;
      setOlder([...page, ...older]);
      setHasMore(page.length === PAGE);
      // What the reader looks at stays where it is.
      requestAnimationFrame(() => {
        const box = list.current;
        if (box) box.scrollTop += box.scrollHeight - before;
      });
    });
  return (
    <div
      class="conversation"
      ref={list}
      onScroll={onScroll}
      tabIndex={-1}
      role="log"
      aria-live="off"
      aria-label="Conversation"
    >
      <div class="column">
        {first && hasOlder && (
          <button type="button" class="quiet older" onClick={loadOlder}>
            Show older messages
          </button>
        )}
        {all.map((message, at) => (
          <ConversationEntry
            key={message.id + message.seq}
            message={message}
            active={at === all.length - 1 || hasActive(message, activeTools) ? activeTools : NO_CALLS}
            isOver={status === "idle" || at < all.length - 1}
            onRewind={onRewind}
          />
        ))}
        {currentMessage && (
          <div class={`entry ${currentMessage.role}`}>
            <MessageView message={currentMessage} active={NO_CALLS} isStreaming isOver={false} />
          </div>
        )}
        <ActivityLine />
      </div>
      {!isAtEnd && (
        <button
          type="button"
          class="to-end"
          onClick={() => list.current?.scrollTo({ top: list.current.scrollHeight, behavior: "smooth" })}
        >
          ↓ To the end
        </button>
      )}
    </div>
  );
}

const hasActive = (message: HarnessMessage, active: Readonly<Record<string, ActiveTool>>): boolean =>
  message.content.some((part) => part.type === "tool-call" && Object.hasOwn(active, part.toolCallId));
