import type { ActiveTool, HarnessMessage, Json, ToolCallPart } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useCommand, useSeat } from "../page-context.ts";
import { DiffCount, DiffView } from "../text/diff-view.tsx";
import { plainOutput } from "../text/terminal-text.ts";
import { duration, withVisibleSigns } from "../ui/format.ts";
import { diffIn, knownArgument } from "./argument.ts";
import { contentText } from "./content-text.ts";
import { isCut, placeKey, wholeCalls, type WholeCall } from "./whole-call.ts";

type Outcome = HarnessMessage["outcomes"][string];

interface Props {
  call: Pick<ToolCallPart, "toolName" | "input" | "toolCallId">;
  /** Of its message. */
  seq: number | undefined;
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
export function ToolCallView({ call, seq, outcome, active, isOver }: Props): VNode {
  const state = stateOf(outcome, active, isOver);
  const diff = outcome ? diffIn(outcome.result.details) : null;
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const cut = isCut(call) || isCut(outcome?.result);
  // What is cut is loaded when it is opened, so it is not opened for every call of a long thread.
  const shown =
    isOpen ??
    ((state === "running" && outputOf(outcome, active) !== "") || (!cut && (diff !== null || state === "failed")));
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
        {diff !== null && !cut && <DiffCount diff={diff} />}
        <span class="state">{outcome && state !== "unknown" ? duration(outcome.durationMs) : WORDS[state]}</span>
        <span class="sr-only">{WORDS[state]}</span>
      </button>
      {shown && cut && seq !== undefined && outcome ? (
        <WholeDetails call={call} seq={seq} args={outcome.args} />
      ) : (
        shown && <CallDetails args={args} diff={diff} output={outputOf(outcome, active)} />
      )}
    </div>
  );
}

function stateOf(outcome: Outcome | undefined, active: ActiveTool | undefined, isOver: boolean): State {
  if (outcome) return outcome.unknown ? "unknown" : outcome.isError ? "failed" : "done";
  if (active?.status === "waiting" && !active.forChildren) return "waiting";
  if (active) return active.status === "pending" ? "pending" : "running";
  return isOver ? "stopped" : "pending";
}

const outputOf = (outcome: Outcome | undefined, active: ActiveTool | undefined): string =>
  outcome ? contentText(outcome.result.content) : (active?.output ?? "");

/** The arguments and the result that the display has only the beginning and the end of. */
function WholeDetails({ call, seq, args }: Pick<Props, "call"> & { seq: number; args: Json | undefined }): VNode {
  const seat = useSeat();
  const run = useCommand();
  const [whole, setWhole] = useState<WholeCall | null>(null);
  useEffect(() => {
    const { toolCallId } = call;
    run(async () => {
      const place = { seq, toolCallId };
      setWhole((await wholeCalls(seat, [place])).get(placeKey(place)) ?? {});
    });
  }, [seat, seq, call.toolCallId]);
  if (!whole) return <p class="call-details hint">Loading…</p>;
  return (
    <CallDetails
      args={args ?? whole.input ?? call.input}
      diff={diffIn(whole.result?.details)}
      output={contentText(whole.result?.content ?? "")}
    />
  );
}

function CallDetails({ args, diff, output }: { args: unknown; diff: string | null; output: string }): VNode {
  return (
    <div class="call-details">
      {diff === null && (
        <pre class="arguments" tabIndex={0} aria-label="Arguments">
          {withVisibleSigns(JSON.stringify(args, null, 2))}
        </pre>
      )}
      {diff !== null && <DiffView diff={diff} label="Changes" />}
      {output !== "" && diff === null && (
        <pre class="output" tabIndex={0} aria-label="Output">
          {plainOutput(output)}
        </pre>
      )}
    </div>
  );
}
