import type { Usage } from "@cinch/core";
import { addUsage } from "@cinch/core/journal";

/** What a turn has used so far. `null`: nothing is known yet. */
export interface TurnUsage {
  usage: Usage | null;
  cost: number | null;
}

/** An answer of unknown price leaves the cost as it is. */
export const withUsed = ({ usage, cost }: TurnUsage, used: { usage: Usage; cost: number | null }): TurnUsage => ({
  usage: usage ? addUsage(usage, used.usage) : used.usage,
  cost: used.cost === null ? cost : (cost ?? 0) + used.cost,
});
