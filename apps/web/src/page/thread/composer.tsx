import type { VNode } from "preact";
import { useCommand, useField, useSeat } from "../page-context.ts";
import { useDraft } from "../ui/draft.ts";
import { MessageBox, type SendKeys, type UnsentMessage } from "./message-box.tsx";

type Delivery = "send" | "steer" | "follow_up";

/** The composer of a thread. What is not sent survives a reload. While a turn runs, Enter steers it and Alt-Enter queues. */
export function Composer(): VNode {
  const seat = useSeat();
  const isRunning = useField("isRunning");
  const status = useField("status");
  const inbox = useField("inbox");
  const flags = useField("flags");
  const run = useCommand();
  const draft = useDraft(seat.getCurrentThreadId() ?? "new");
  const isHeld = (flags.held && inbox.length > 0) || status === "parked";
  const post = (message: UnsentMessage, delivery: Delivery) =>
    seat.post({ ...message, files: [...message.files], delivery });
  const deliveryOf = ({ alt }: SendKeys): Delivery => {
    if (!isRunning) return "send";
    return alt ? "follow_up" : "steer";
  };
  const continueHeld = () => {
    if (isHeld) run(() => seat.resume());
  };
  return (
    <MessageBox
      draft={draft}
      rows={1}
      placeholder={placeholderOf({ isRunning, isHeld })}
      onSend={(message, how) => post(message, deliveryOf(how))}
      onEmpty={continueHeld}
    >
      {({ isEmpty, send }) => (
        <>
          {isRunning && (
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

function placeholderOf({ isRunning, isHeld }: Phase): string {
  if (isRunning) return "Steer, or Alt-Enter to queue";
  return isHeld ? "Enter continues with the queue" : "Message the agent";
}

function buttonOf({ isRunning, isHeld }: Phase): string {
  if (isHeld) return "Continue";
  return isRunning ? "Steer" : "Send";
}
