import type { Store, Usage } from "@cinch/core";
import { addUsage, lift, noUsage, type DurableEvent } from "@cinch/core/journal";

/** What a model, or the subagents of a thread, have used. */
export interface ModelSpending {
  name: string;
  usage: Usage;
  /** In dollars. `null`: a price is unknown. */
  cost: number | null;
}

const CHUNK = 500;
export const SUBAGENTS = "subagents";

/** By model, most tokens first. What a rewind has reverted is in no row, although the thread has used it. */
export async function spendingOf(store: Store, threadId: string): Promise<ModelSpending[]> {
  const rows = new Map<string, ModelSpending>();
  let modelId = "";
  for (let after = 0; ;) {
    const events = await store.read(threadId, { after, limit: CHUNK });
    for (const stored of events) {
      const event = lift(stored);
      if ("modelId" in event && event.modelId !== undefined && setsModel(event)) modelId = event.modelId;
      const spent = spentBy(event, modelId);
      if (spent) rows.set(spent.name, added(rows.get(spent.name), spent));
    }
    if (events.length < CHUNK) break;
    after = events.at(-1)!.seq;
  }
  return [...rows.values()].toSorted((one, other) => tokensOf(other) - tokensOf(one));
}

const tokensOf = ({ usage }: ModelSpending): number => usage.inputTokens + usage.outputTokens;

/** The model of the steps that follow. */
const setsModel = ({ type }: DurableEvent): boolean =>
  type === "agent_start" || type === "model_changed" || type === "prompt_head";

function spentBy(event: DurableEvent, modelId: string): ModelSpending | undefined {
  switch (event.type) {
    case "usage_update":
      return { name: modelId, usage: event.usage, cost: event.cost };
    case "om_observation_end":
    case "om_reflection_end":
      return { name: event.modelId, usage: event.usage, cost: event.cost };
    case "subagent_end":
      return { name: SUBAGENTS, usage: event.usage, cost: event.cost };
    default:
      return undefined;
  }
}

const added = (before: ModelSpending = { name: "", usage: noUsage, cost: 0 }, spent: ModelSpending): ModelSpending => ({
  name: spent.name,
  usage: addUsage(before.usage, spent.usage),
  cost: before.cost === null || spent.cost === null ? null : before.cost + spent.cost,
});
