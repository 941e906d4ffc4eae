import { exhausted, type Spending } from "../config/budget.ts";
import type { Thread } from "../thread/thread.ts";
import { ancestorsOf, type Driver } from "./driver.ts";
import type { Setup } from "./setup.ts";

const NOTHING: Spending = { tokens: 0, cost: 0 };

/** Describes the limit that this thread or one above it has reached. Running subagents count. `null`: the driver may ask the model. */
export function exhaustedInTree(driver: Driver, setup: Setup): string | null {
  const { ports, state, journal } = driver;
  const now = ports.clock.now();
  const above = ancestorsOf(state.agent, ports.threads);
  const own = ports.threads.opened(journal.id);
  const reached = exhausted(state, setup.budgets(), { now, spentBelow: () => (own ? running(own) : NOTHING) });
  if (reached !== null) return reached;
  for (const thread of above) {
    const { budgets } = thread.ports.modes;
    const limit = exhausted(thread.state, budgets(thread.state.control), { now, spentBelow: () => running(thread) });
    if (limit !== null) return `${limit}, of a thread above this one`;
  }
  return null;
}

/** What the unfinished runs below a thread have used so far. */
function running(thread: Thread): Spending {
  const used = { tokens: 0, cost: 0 };
  for (const child of thread.children.open) {
    const below = running(child);
    used.tokens += (child.state.turn?.tokens ?? 0) + below.tokens;
    used.cost += (child.state.turn?.cost ?? 0) + below.cost;
  }
  return used;
}
