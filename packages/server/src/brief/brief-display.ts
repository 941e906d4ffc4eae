import type { HarnessDisplayState, HarnessMessage, Json } from "@cinch/core";
import { briefJson } from "./brief-json.ts";
import { briefMessage, briefResult } from "./brief-message.ts";

/**
 * What is sent of a display state: long arguments and results are cut. What a person is asked stays whole, since the answer is about all
 * of it. `briefEvent` cuts the same, so that folding brief events gives the brief state.
 */
export function briefDisplay(state: HarnessDisplayState): HarnessDisplayState {
  return {
    ...state,
    messages: state.messages.map(briefHarnessMessage),
    activeTools: mapped(state.activeTools, (tool) => ({
      ...tool,
      args: briefJson(tool.args),
      partialResult: briefJson(tool.partialResult),
    })),
    activeSubagents: mapped(state.activeSubagents, (one) => ({
      ...one,
      toolCalls: one.toolCalls.map((call) => ({ ...call, args: briefJson(call.args as Json) })),
    })),
  };
}

/** A cache: messages that a display still holds are not cut again. */
const known = new WeakMap<HarnessMessage, HarnessMessage>();

export function briefHarnessMessage(message: HarnessMessage): HarnessMessage {
  const brief = known.get(message) ?? {
    ...briefMessage(message),
    outcomes: mapped(message.outcomes, (outcome) => ({ ...outcome, result: briefResult(outcome.result) })),
  };
  known.set(message, brief);
  return brief;
}

const mapped = <T>(record: Readonly<Record<string, T>>, change: (one: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([key, one]) => [key, change(one)]));
