import type { EndReason, HarnessEvent } from "@cinch/core";

/** What is being waited for since when: it is in the events, and not in the display state. Times are in milliseconds. */
export interface Activity {
  /** When the model was asked. */
  asked: number | null;
  /** By call, when it was started. */
  started: Readonly<Record<string, number>>;
  /** The model is asked again at `due`. */
  retry: { attempt: number; due: number; message: string } | null;
  /** When a compaction was requested. */
  compacting: number | null;
  /** When the store was found full or locked: nothing is written until it is not. */
  store: number | null;
  /** The turn was asked to stop. */
  stopping: boolean;
  /** How the last turn ended. */
  end: { reason: EndReason; detail: string | undefined } | null;
  /** The reasoning that streams. */
  thinking: { key: string; since: number } | null;
  /** How long each reasoning took, by `thoughtKey`; the newest. */
  thoughts: Readonly<Record<string, number>>;
}

const MAX_KEPT = 64;

export const noActivity: Activity = {
  asked: null,
  started: {},
  retry: null,
  compacting: null,
  store: null,
  stopping: false,
  end: null,
  thinking: null,
  thoughts: {},
};

/** `index`: among the texts of the message that are not empty. */
export const thoughtKey = (messageId: string, index: number): string => `${messageId}:${index}`;

/** Pure. Returns the same object for most text deltas. */
export function reduceActivity(activity: Activity, event: HarnessEvent): Activity {
  const before = activity.store !== null && "seq" in event ? { ...activity, store: null } : activity;
  switch (event.type) {
    case "agent_start":
      return { ...ended(before, event.at), started: event.resumed ? before.started : {} };
    case "agent_end":
      return { ...ended(before, event.at), end: { reason: event.reason, detail: event.detail } };
    case "message_start":
      return { ...before, asked: event.at, retry: null, thinking: null };
    case "message_update":
      return updated(before, event);
    case "message_end":
      return event.message.role === "assistant" ? { ...thought(before, event.at), asked: null } : before;
    case "message_discarded":
      return { ...before, asked: null, thinking: null };
    case "retry_scheduled": {
      const { attempt, at, delayMs, message } = event;
      return { ...before, retry: { attempt, due: at + delayMs, message } };
    }
    case "info":
      return event.waitsFor === "store" ? { ...before, store: event.at } : before;
    case "tool_input_start":
      return thought(before, event.at);
    case "tool_start":
      return { ...before, started: { ...before.started, [event.toolCallId]: event.at } };
    case "tool_end": {
      const { [event.toolCallId]: _, ...started } = before.started;
      return { ...before, started };
    }
    case "abort_requested":
      return { ...before, stopping: true };
    case "compaction_requested":
      return { ...before, compacting: event.at };
    case "context_summarised":
    case "om_activation":
      return { ...before, compacting: null };
    case "thread_changed":
    case "thread_rewound":
    case "resync":
      return noActivity;
    default:
      return before;
  }
}

function updated(before: Activity, event: Extract<HarnessEvent, { type: "message_update" }>): Activity {
  if (event.part !== "reasoning") return before.thinking ? thought(before, event.at) : before;
  const key = thoughtKey(event.messageId, event.index);
  if (before.thinking?.key === key) return before;
  return { ...thought(before, event.at), thinking: { key, since: event.at } };
}

/** Ends the reasoning that streams, if one does. */
function thought(before: Activity, at: number): Activity {
  const { thinking } = before;
  if (!thinking) return before;
  return { ...before, thinking: null, thoughts: withNewest(before.thoughts, thinking.key, at - thinking.since) };
}

/** What is known of answers is needed until they are printed, which may be after the turn. */
function ended(before: Activity, at: number): Activity {
  const { thoughts } = thought(before, at);
  return { ...noActivity, thoughts };
}

const withNewest = <T>(known: Readonly<Record<string, T>>, key: string, value: T): Record<string, T> =>
  Object.fromEntries([...Object.entries(known).slice(1 - MAX_KEPT), [key, value]]);
