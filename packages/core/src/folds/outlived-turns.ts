import type { DurableEvent } from "../events/event-map.ts";
import { tokensOf, totalOf, type Spending } from "../events/usage.ts";
import type { Runs } from "./runs.ts";
import { emptyTrie, trieDelete, trieEntries, trieGet, trieSet, type Trie } from "./trie.ts";
import type { Turn } from "./turn-work.ts";

/**
 * What turns have used that ended before runs which they had started, by turn id. What such a run uses counts against the budget of its
 * turn, however long ago the turn ended.
 */
export type OutlivedTurns = Trie<Spending>;

/** `runs`: after the event. */
export function reduceOutlived(
  { outlived, turn }: { outlived: OutlivedTurns; turn: Turn | null },
  event: DurableEvent,
  runs: Runs,
): OutlivedTurns {
  switch (event.type) {
    case "agent_end":
    case "thread_rewound": {
      if (!turn || !hasUnfinished(runs, turn.turnId)) return outlived;
      const { turnId, tokens, cost } = turn;
      return trieSet(outlived, turnId, { tokens, cost });
    }
    case "subagent_end": {
      const { turnId = "", usage, cost } = event;
      const before = trieGet(outlived, turnId);
      if (!before) return outlived;
      if (!hasUnfinished(runs, turnId)) return trieDelete(outlived, turnId);
      return trieSet(outlived, turnId, totalOf([before, { tokens: tokensOf(usage), cost: cost ?? 0 }]));
    }
    case "thread_cloned":
      return emptyTrie;
    default:
      return outlived;
  }
}

const hasUnfinished = ({ unfinished }: Runs, turnId: string): boolean =>
  unfinished.size > 0 && Array.from(trieEntries(unfinished)).some(([, run]) => run.turnId === turnId);
