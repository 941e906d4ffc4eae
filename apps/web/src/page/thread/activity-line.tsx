import { useThread } from "@cinch/client/react";
import type { HarnessDisplayState } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useCommand, useMay, useSeat } from "../page-context.ts";
import { duration } from "../ui/format.ts";

/** What the thread is doing, or why it does nothing. A wait for the user never looks like work. */
export function ActivityLine(): VNode | null {
  const seat = useSeat();
  const display = useThread(seat);
  const text = activityOf(display);
  const now = useNow(display.isRunning);
  const [since, setSince] = useState(Date.now());
  useEffect(() => setSince(Date.now()), [display.turnId, display.isRunning]);
  if (display.status === "idle") return <Ending error={display.lastError} />;
  if (display.status === "running")
    return (
      <p class="activity">
        <span class="pulse" aria-hidden="true" /> {text}
        {now - since >= 1_000 && ` · ${duration(now - since)}`}
      </p>
    );
  return <p class="activity still">{text}</p>;
}

function activityOf({
  status,
  currentMessage,
  activeTools,
  toolInputBuffers,
  pendingApproval,
  activeSubagents,
  lastError,
}: HarnessDisplayState): string {
  if (status === "waiting") return pendingApproval ? "Waits for your approval" : "Waits for your answer";
  if (status === "parked") return lastError?.message ?? "Parked";
  const running = Object.values(activeTools).find((tool) => tool.status === "running");
  const children = Object.values(activeSubagents).filter(({ endedAt }) => endedAt === null);
  if (children.length > 0)
    return children.length === 1 ? `${children[0]!.agentName} works` : `${children.length} subagents work`;
  if (running) return `Runs ${running.toolName}`;
  const [prepared] = Object.values(toolInputBuffers);
  if (prepared) return `Prepares ${prepared.toolName}`;
  return currentMessage ? "Answers" : "Thinks";
}

function Ending({ error }: { error: HarnessDisplayState["lastError"] }): VNode | null {
  const seat = useSeat();
  const run = useCommand();
  const mayTalk = useMay("talk");
  return (
    error && (
      <div class="failure" role="alert">
        <p>{error.message}</p>
        {mayTalk && (
          <button type="button" onClick={() => run(() => seat.retry())}>
            Try again
          </button>
        )}
      </div>
    )
  );
}

/** Ticks once a second, while something runs. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isTicking) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
