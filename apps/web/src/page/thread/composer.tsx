import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { useCommand, useField, useSeat } from "../page-context.ts";
import { forgetSent, returnedTo, useDraft } from "../ui/draft.ts";
import { MessageBox, type SendKeys, type UnsentMessage } from "./message-box.tsx";

type Delivery = "send" | "steer" | "follow_up";

/**
 * The composer of a thread. What the server has not accepted survives a reload. While a turn runs, Enter steers it and Alt-Enter queues. A message to a
 * parked turn resumes it.
 */
export function Composer(): VNode {
  const seat = useSeat();
  const isRunning = useField("isRunning");
  const status = useField("status");
  const inbox = useField("inbox");
  const flags = useField("flags");
  const run = useCommand();
  const name = seat.getCurrentThreadId() ?? "";
  const draft = useDraft(name);
  // The answer may have been lost, and not the message.
  useEffect(() => {
    const left = new AbortController();
    for (const { id } of returnedTo(name))
      seat.resultOf({ inputId: id, signal: left.signal }).then(
        () => forgetSent(name, id),
        () => undefined,
      );
    return () => left.abort();
  }, [seat, name]);
  const isParked = status === "parked";
  const hasTurn = isRunning || isParked;
  const isHeld = (flags.held && inbox.length > 0) || isParked;
  const post = (message: UnsentMessage, delivery: Delivery) =>
    seat.post({ ...message, files: [...message.files], delivery });
  const resume = () => run(() => seat.resume());
  const deliveryOf = ({ alt }: SendKeys): Delivery => {
    if (!hasTurn) return "send";
    return alt ? "follow_up" : "steer";
  };
  return (
    <MessageBox
      draft={draft}
      rows={1}
      placeholder={placeholderOf({ isRunning, isHeld, hasQueue: inbox.length > 0 })}
      onSend={async (message, how) => {
        await post(message, deliveryOf(how));
        if (isParked) resume();
      }}
      onEmpty={isHeld ? resume : undefined}
    >
      {({ isEmpty, send }) => (
        <>
          {hasTurn && (
            <button type="button" onClick={() => run(() => seat.abort())} title="Esc">
              Stop
            </button>
          )}
          {isRunning && !isEmpty && (
            <button type="button" onClick={() => send({ alt: true })} title="Alt-Enter">
              Queue
            </button>
          )}
          <button type="submit" class="primary" disabled={isEmpty && !isHeld}>
            {buttonOf({ isRunning, isHeld: isHeld && isEmpty })}
          </button>
        </>
      )}
    </MessageBox>
  );
}

interface Phase {
  isRunning: boolean;
  isHeld: boolean;
}

function placeholderOf({ isRunning, isHeld, hasQueue }: Phase & { hasQueue: boolean }): string {
  if (isRunning) return "Steer, or Alt-Enter to queue";
  if (!isHeld) return "Message the agent";
  return hasQueue ? "Enter continues with the queue" : "Enter continues";
}

function buttonOf({ isRunning, isHeld }: Phase): string {
  if (isHeld) return "Continue";
  return isRunning ? "Steer" : "Send";
}
