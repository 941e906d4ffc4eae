import type { RemoteSession } from "@cinch/client";
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
  const draft = useDraft(name, () => seat.getDisplayState().seq);
  // The answer may have been lost, and not the message.
  useEffect(() => followAcceptance(seat, name), [seat, name]);
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

/** Forgets the texts in the composer that the thread accepts, or has accepted. Events say so at once; without those of the past, their results are asked for. */
function followAcceptance(seat: RemoteSession, name: string): (() => void) | undefined {
  const seqs = returnedTo(name).map(({ seq }) => seq);
  if (seqs.length === 0) return undefined;
  const left = new AbortController();
  const ask = () => {
    for (const { id } of returnedTo(name))
      seat.resultOf({ inputId: id, signal: left.signal }).then(
        () => forgetSent(name, id),
        () => undefined,
      );
  };
  const since = seqs.every((seq) => seq !== undefined) ? Math.min(...seqs) : undefined;
  const leave = seat.subscribe(
    (event) => {
      if (event.type === "input_accepted") forgetSent(name, event.inputId);
      else if (event.type === "resync") ask();
    },
    { since },
  );
  if (since === undefined) ask();
  return () => {
    left.abort();
    leave();
  };
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
