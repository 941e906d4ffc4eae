import { createHash } from "node:crypto";
import { isSuspendedBy, type AskUserPayload, type Json, type SubmitPlanPayload } from "@cinch/core";
import type { Harness, PendingApproval, PendingSuspension } from "@cinch/core";

interface WaitingCall {
  /** Of this question alone: if the same call asks again, it has another id. */
  id: string;
  /** Of the agent that asks, which may be a subagent. */
  threadId: string;
  /** The names of the subagents, from the outermost to the one that asks. */
  path: readonly string[];
  toolCallId: string;
  toolName: string;
  args: Json;
  seq: number;
  at: number;
}

/** A call that waits for a person. */
export type Waiting =
  | (WaitingCall & {
      kind: "approval";
      digest: string;
      suggestion: string | null;
      decisions: readonly string[];
      /** What the call would do, such as `{ diff }`. */
      preview: Json;
      /** The loaded skill because of which the call asks. */
      skill: string | null;
    })
  | (WaitingCall & { kind: "question" } & AskUserPayload)
  | (WaitingCall & { kind: "plan" } & SubmitPlanPayload)
  /** Of a tool that is not ours. */
  | (WaitingCall & { kind: "data"; payload: Json });

export type PendingCall = PendingApproval | PendingSuspension;

export function waitingOf(call: PendingCall): Waiting {
  const { threadId, path, toolCallId, toolName, args, seq, at } = call;
  const waiting = { id: idOf(call), threadId, path, toolCallId, toolName, args, seq, at };
  if ("digest" in call) {
    const { digest, suggestion, decisions, preview, skill } = call;
    return { ...waiting, kind: "approval", digest, suggestion, decisions, preview, skill };
  }
  if (isSuspendedBy(call, "ask_user")) {
    const { question, options, multiple }: AskUserPayload = call.suspendPayload;
    return { ...waiting, kind: "question", question, options, multiple };
  }
  if (isSuspendedBy(call, "submit_plan")) {
    const { title, plan }: SubmitPlanPayload = call.suspendPayload;
    return { ...waiting, kind: "plan", title, plan };
  }
  return { ...waiting, kind: "data", payload: call.suspendPayload };
}

/** What waits in a thread and in those of its subagents, oldest first. The store knows it before the subagents are opened. */
export async function waitingIn(harness: Harness, threadId: string): Promise<Waiting[]> {
  const calls = await harness.pending();
  return calls.filter((call) => call.rootThreadId === threadId || call.threadId === threadId).map(waitingOf);
}

const ID_LENGTH = 8;

/** Short enough to type, and never like the id of a thread. */
const idOf = ({ threadId, seq }: PendingCall): string =>
  createHash("sha256").update(`${threadId}:${seq}`).digest("hex").slice(0, ID_LENGTH);
