import type { AwaitMode } from "../config/subagent-options.ts";
import type { Call } from "./call.ts";
import type { Run } from "./runs.ts";
import type { ThreadState } from "./state.ts";
import { trieGet } from "./trie.ts";
import type { Turn } from "./turn-work.ts";

/** What `agent_await` waits for, as its suspension records it. */
export interface AwaitPayload {
  ids: readonly string[];
  mode: AwaitMode;
  /** The time at which it gives up, in ms. */
  until: number | null;
}

/** Whether the condition of a mode holds, or can't hold any more. `null`: neither yet. */
export function awaited({ runs }: ThreadState, { ids, mode }: AwaitPayload): "met" | "failed" | null {
  const statuses = ids.map((id) => trieGet(runs.background, id)?.status ?? null);
  const succeeded = statuses.filter((status) => status === "complete").length;
  const ended = statuses.filter((status) => status !== null).length;
  switch (mode) {
    case "all":
      if (ended > succeeded) return "failed";
      return succeeded === ids.length ? "met" : null;
    case "allSettled":
      return ended === ids.length ? "met" : null;
    case "any":
      if (succeeded > 0) return "met";
      return ended === ids.length ? "failed" : null;
    case "race":
      if (ended === 0) return null;
      return succeeded > 0 ? "met" : "failed";
  }
}

/** The calls of `agent_await` that wait. */
export const awaitingCalls = ({ turn }: ThreadState): readonly Call[] =>
  turn?.calls.filter(({ state, forChildren, suspension }) => state === "suspended" && forChildren && suspension) ?? [];

/** Whether the turn waits for the end of a run: the call that started it does, or a call of `agent_await`. */
export function waitsForRun({ turnId, calls }: Turn, run: Pick<Run, "turnId" | "toolCallId" | "background">): boolean {
  const agentId = run.background?.agentId ?? "";
  return calls.some(({ state, forChildren, toolCallId, suspension }) => {
    if (state !== "suspended" || !forChildren) return false;
    return suspension
      ? awaitPayload({ suspension }).ids.includes(agentId)
      : !run.background && turnId === run.turnId && toolCallId === run.toolCallId;
  });
}

export const awaitPayload = ({ suspension }: Pick<Call, "suspension">): AwaitPayload =>
  suspension?.suspendPayload as unknown as AwaitPayload;

/** Why a call of `agent_await` continues now. `null`: it waits. */
export function whyContinues(state: ThreadState, payload: AwaitPayload, now: number): string | null {
  if (awaited(state, payload) !== null) return "Ended.";
  if (state.inbox.some((item) => item.delivery === "steer" && !item.note))
    return "The wait was ended by a new message.";
  return payload.until !== null && now >= payload.until ? "The wait has reached its timeout." : null;
}
