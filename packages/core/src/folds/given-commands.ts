import type { DurableEvent, GivenCommand } from "../events/event-map.ts";

/** How long a repetition of a command is recognised, and how many commands are remembered. */
const KEPT_MS = 600_000;
const MOST_KEPT = 500;
const none: readonly GivenCommand[] = [];

/** The newest commands that callers gave an id, so that every process recognises a repetition. A clone has none of its source. */
export function reduceGiven(commands: readonly GivenCommand[], event: DurableEvent): readonly GivenCommand[] {
  if (event.type === "thread_cloned") return [];
  const { command } = event as DurableEvent<"thread_renamed">;
  const reverted = event.type === "thread_rewound" && event.commands ? event.commands : none;
  if (!command && reverted.length === 0) return commands;
  const { seq, at } = event;
  const own = command ? [{ ...command, seq, at }] : none;
  return [...commands, ...reverted, ...own].filter((one) => at - one.at < KEPT_MS).slice(-MOST_KEPT);
}
