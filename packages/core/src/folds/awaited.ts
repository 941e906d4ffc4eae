import type { AwaitMode } from "../config/subagent-options.ts";
import type { Call } from "./call.ts";
import { trieGet } from "./trie.ts";
import type { ThreadState } from "./state.ts";

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

export const awaitPayload = ({ suspension }: Call): AwaitPayload =>
  suspension?.suspendPayload as unknown as AwaitPayload;

/** Why a call of `agent_await` continues now. `null`: it waits. */
export function whyContinues(state: ThreadState, payload: AwaitPayload, now: number): string | null {
  if (awaited(state, payload) !== null) return "Ended.";
  if (state.inbox.some((item) => item.delivery === "steer" && !item.note))
    return "The wait was ended by a new message.";
  return payload.until !== null && now >= payload.until ? "The wait has reached its timeout." : null;
}
