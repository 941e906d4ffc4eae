import type { ActiveTool, HarnessMessage, ToolCallPart } from "@cinch/core";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { DiffCount, DiffView } from "../text/diff-view.tsx";
import { plainOutput } from "../text/terminal-text.ts";
import { duration, withVisibleSigns } from "../ui/format.ts";
import { diffIn, knownArgument } from "./argument.ts";
import { contentText } from "./content-text.ts";

type Outcome = HarnessMessage["outcomes"][string];

interface Props {
  call: Pick<ToolCallPart, "toolName" | "input" | "toolCallId">;
  outcome: Outcome | undefined;
  active: ActiveTool | undefined;
  /** The turn has ended, or the message was interrupted. */
  isOver: boolean;
}

type State = "done" | "failed" | "unknown" | "running" | "waiting" | "pending" | "stopped";

const SIGNS: Record<State, string> = {
  done: "✓",
  failed: "✗",
  unknown: "?",
  running: "●",
  waiting: "◆",
  pending: "○",
  stopped: "–",
};
const WORDS: Record<State, string> = {
  done: "done",
  failed: "failed",
  unknown: "outcome unknown",
  running: "running",
  waiting: "waits for you",
  pending: "pending",
  stopped: "did not run",
};

/** A call in one line; its arguments, diff and output unfold. */
export function ToolCallView({ call, outcome, active, isOver }: Props): VNode {
  const state = stateOf(outcome, active, isOver);
  const diff = outcome ? diffIn(outcome.result.details) : null;
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const shown = isOpen ?? (diff !== null || state === "running" || state === "failed");
  const args = outcome?.args ?? active?.args ?? call.input;
  return (
    <div class={`call ${state}`}>
      <button type="button" class="call-line" aria-expanded={shown} onClick={() => setOpen(!shown)}>
        <span class="sign" aria-hidden="true">
          {SIGNS[state]}
        </span>
        <span class="name">{call.toolName}</span>
        <span class="argument" dir="auto">
          {withVisibleSigns(knownArgument(args))}
        </span>
        {diff !== null && <DiffCount diff={diff} />}
        <span class="state">{outcome && state !== "unknown" ? duration(outcome.durationMs) : WORDS[state]}</span>
        <span class="sr-only">{WORDS[state]}</span>
      </button>
      {shown && <CallDetails args={args} diff={diff} outcome={outcome} active={active} />}
    </div>
  );
}

function stateOf(outcome: Outcome | undefined, active: ActiveTool | undefined, isOver: boolean): State {
  if (outcome) return outcome.unknown ? "unknown" : outcome.isError ? "failed" : "done";
  if (active?.status === "waiting" && !active.forChildren) return "waiting";
  if (active) return active.status === "pending" ? "pending" : "running";
  return isOver ? "stopped" : "pending";
}

function CallDetails({
  args,
  diff,
  outcome,
  active,
}: { args: unknown; diff: string | null } & Pick<Props, "outcome" | "active">): VNode {
  const output = outcome ? contentText(outcome.result.content) : (active?.output ?? "");
  return (
    <div class="call-details">
      {diff === null && <pre class="arguments">{withVisibleSigns(JSON.stringify(args, null, 2))}</pre>}
      {diff !== null && <DiffView diff={diff} label="Changes" />}
      {output !== "" && diff === null && (
        <pre class="output" tabIndex={0} aria-label="Output">
          {plainOutput(output)}
        </pre>
      )}
    </div>
  );
}
