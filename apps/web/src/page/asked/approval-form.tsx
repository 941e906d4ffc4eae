import type { Decision, PendingApproval } from "@cinch/core";
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { useCommand, usePage, useSeat } from "../page-context.ts";
import { DiffView } from "../text/diff-view.tsx";
import { diffIn, knownArgument } from "../thread/argument.ts";
import { useKeptFocus } from "../ui/focus.ts";
import { withVisibleSigns } from "../ui/format.ts";
import { AnswerForm } from "./answer-form.tsx";

const QUESTIONS: Partial<Record<PendingApproval["category"], string>> = {
  execute: "Run this command?",
  edit: "Make this change?",
};

/** Shows exactly what will run: all of it, with characters that can't be seen as their code points. */
export function ApprovalForm({ approval }: { approval: PendingApproval }): VNode {
  const { toolName, category, decisions, suggestion, skill } = approval;
  const seat = useSeat();
  const { info } = usePage();
  const run = useCommand();
  const [form, setForm] = useState<"edit" | "decline" | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box, form ?? "");
  const may = (decision: Decision) =>
    decisions.includes(decision) && info.may.includes(decision.startsWith("always") ? "manage" : "approve");
  const answer = (decision: Decision, more: { message?: string; args?: unknown } = {}) => {
    const { toolCallId, threadId, digest } = approval;
    return seat.respondToToolApproval({ toolCallId, threadId, digest, decision, ...more });
  };
  const choose = (decision: Decision) => run(() => answer(decision));
  const submit = async (text: string) => {
    if (form === "decline") return answer("decline", text === "" ? {} : { message: text });
    return answer("edit", { args: jsonOf(text) });
  };
  return (
    <div class="approval" ref={box} tabIndex={-1}>
      <h2>
        {QUESTIONS[category] ?? `Run ${toolName}?`} <span class="tool">{toolName}</span>
      </h2>
      {skill && <p class="why">The skill {skill} does not list this tool.</p>}
      <WhatRuns approval={approval} />
      {form ? (
        <AnswerForm
          key={form}
          question={approval}
          {...(form === "edit"
            ? { label: "Arguments", submit: "Run with these", rows: 8, isCode: true, text: argumentsOf(approval) }
            : { label: "Reason, for the agent", submit: "Decline" })}
          onSubmit={submit}
          onBack={() => setForm(null)}
        />
      ) : (
        <div class="choices">
          {may("approve") && (
            <button type="button" class="primary" aria-keyshortcuts="y" onClick={() => choose("approve")}>
              Approve
            </button>
          )}
          {may("decline") && (
            <button type="button" aria-keyshortcuts="n" onClick={() => setForm("decline")}>
              Decline…
            </button>
          )}
          {may("edit") && (
            <button type="button" aria-keyshortcuts="e" onClick={() => setForm("edit")}>
              Edit…
            </button>
          )}
          {may("always_allow_tool") && (
            <button type="button" aria-keyshortcuts="p" onClick={() => choose("always_allow_tool")}>
              Always allow {suggestion === null ? toolName : <code>{withVisibleSigns(suggestion)}</code>}
            </button>
          )}
          {may("always_allow_category") && (
            <button type="button" aria-keyshortcuts="c" onClick={() => choose("always_allow_category")}>
              Always allow every “{category}” tool
            </button>
          )}
          {!may("approve") && <p>Your token may not approve.</p>}
        </div>
      )}
    </div>
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The arguments are not JSON. Correct them, and send again.");
  }
}

const argumentsOf = ({ args }: PendingApproval): string => JSON.stringify(args, null, 2);

function WhatRuns({ approval: { args, preview, category } }: { approval: PendingApproval }): VNode {
  const diff = diffIn(preview);
  const command = commandIn(args);
  if (category === "execute" && command !== null) return <pre class="will-run">{withVisibleSigns(command)}</pre>;
  return (
    <>
      {diff !== null && <p class="changed">{withVisibleSigns(knownArgument(args))}</p>}
      {diff !== null && <DiffView diff={diff} label="The change" />}
      {diff === null && <pre class="will-run">{withVisibleSigns(JSON.stringify(args, null, 2))}</pre>}
    </>
  );
}

/** The command, if it is all that the call is given. */
function commandIn(args: PendingApproval["args"]): string | null {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return null;
  const { command, ...rest } = args;
  return typeof command === "string" && Object.keys(rest).length === 0 ? command : null;
}
