import type { ActiveTool, HarnessMessage } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useCommand, useField } from "../page-context.ts";
import { ActivityLine } from "./activity-line.tsx";
import { ConversationEntry } from "./conversation-entry.tsx";
import { useOlderMessages } from "./older-messages.ts";

const NO_CALLS: Readonly<Record<string, ActiveTool>> = {};
/** A reader who is this near the end wants to stay there. */
const NEAR_END = 60;

/** All that was said. It follows the end only while the reader is there: scrolling is never taken away. */
export function ConversationView({ onRewind }: { onRewind: (message: HarnessMessage) => void }): VNode {
  const run = useCommand();
  const [messages, current, activeTools, status] = [
    useField("messages"),
    useField("currentMessage"),
    useField("activeTools"),
    useField("status"),
  ];
  const { all, hasOlder, load } = useOlderMessages(messages);
  const { list, isAtEnd, onScroll, addAbove, toEnd } = useFollowedEnd();
  // No process works on a parked turn.
  const running = status === "parked" ? NO_CALLS : activeTools;
  // While an answer streams, the entries before it are the same elements.
  const entries = useMemo(() => {
    const keys = new Set<string>();
    return all.map((message, at, { length }) => {
      const isLast = at === length - 1;
      const key = keys.has(message.id) ? `${message.id} ${message.seq}` : message.id;
      keys.add(key);
      return (
        <ConversationEntry
          key={key}
          message={message}
          active={isLast || hasActive(message, running) ? running : NO_CALLS}
          isOver={status === "idle" || !isLast}
          onRewind={onRewind}
        />
      );
    });
  }, [all, running, status, onRewind]);
  const streaming = current && (
    <ConversationEntry key={current.id} message={current} active={NO_CALLS} isOver={false} onRewind={onRewind} />
  );
  return (
    <div
      class="conversation"
      ref={list}
      onScroll={onScroll}
      onLoadCapture={() => isAtEnd && toEnd("instant")}
      tabIndex={-1}
      role="log"
      aria-live="off"
      aria-label="Conversation"
    >
      <div class="column">
        {hasOlder && (
          <button type="button" class="quiet older" onClick={() => run(() => load(addAbove))}>
            Show older messages
          </button>
        )}
        {[...entries, streaming]}
        <ActivityLine />
      </div>
      {!isAtEnd && (
        <button type="button" class="to-end" onClick={() => toEnd("smooth")}>
          ↓ To the end
        </button>
      )}
    </div>
  );
}

const hasActive = (message: HarnessMessage, active: Readonly<Record<string, ActiveTool>>): boolean =>
  message.content.some((part) => part.type === "tool-call" && Object.hasOwn(active, part.toolCallId));

/** A box that shows its end until the reader scrolls up. What is added above moves nothing that the reader looks at. */
function useFollowedEnd() {
  const list = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  // As the reader left it. The state is as drawn, and what comes before the next drawing must not take the scrolling away.
  const follows = useRef(true);
  const top = useRef(0);
  const fromEnd = useRef<number | null>(null);
  const look = ({ scrollTop, scrollHeight, clientHeight }: HTMLDivElement) => {
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) follows.current = true;
    // Only a reader scrolls up: what the page itself does leads to the end.
    else if (scrollTop < top.current) follows.current = false;
    top.current = scrollTop;
    setAtEnd(follows.current);
  };
  const scroll = (box: HTMLDivElement, y: number) => {
    box.scrollTop = y;
    top.current = box.scrollTop;
  };
  const follow = (box: HTMLDivElement) => {
    look(box);
    if (follows.current) scroll(box, box.scrollHeight);
  };
  useLayoutEffect(() => {
    const box = list.current!;
    follow(box);
    if (!follows.current && fromEnd.current !== null) scroll(box, box.scrollHeight - fromEnd.current);
    fromEnd.current = null;
  });
  // A question or a longer composer leaves less room for the conversation.
  useEffect(() => {
    const box = list.current!;
    const resized = new ResizeObserver(() => follow(box));
    resized.observe(box);
    return () => resized.disconnect();
  }, []);
  const addAbove = (change: () => void) => {
    const box = list.current!;
    fromEnd.current = box.scrollHeight - box.scrollTop;
    change();
  };
  const toEnd = (behavior: ScrollBehavior) => list.current?.scrollTo({ top: list.current.scrollHeight, behavior });
  return { list, isAtEnd, onScroll: () => look(list.current!), addAbove, toEnd };
}
