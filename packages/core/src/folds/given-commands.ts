import type { DurableEvent, GivenCommand } from "../events/event-map.ts";

/** How long a repetition of a command is recognised, and how many commands are remembered. */
const KEPT_MS = 600_000;
const MOST_KEPT = 500;

/** `inherited`: it was given to the thread that this one was cloned from. This one accepts a command with the same id. */
export interface KnownCommand extends GivenCommand {
  inherited?: boolean;
}

/** The newest commands that callers gave an id, so that every process recognises a repetition. */
export function reduceGiven(before: readonly KnownCommand[], event: DurableEvent): readonly KnownCommand[] {
  const { seq, at } = event;
  const { command } = event as DurableEvent<"thread_renamed">;
  const commands = afterCut(before, event);
  if (!command && commands === before) return before;
  const own = command ? [{ ...command, seq, at }] : [];
  return [...commands, ...own].filter((one) => at - one.at < KEPT_MS).slice(-MOST_KEPT);
}

function afterCut(commands: readonly KnownCommand[], event: DurableEvent): readonly KnownCommand[] {
  if (event.type === "thread_cloned") return commands.map(asInherited);
  if (event.type !== "thread_rewound" || !event.commands) return commands;
  const { toSeq, commands: recorded } = event;
  const inherited = new Set(recorded.filter(({ seq }) => seq <= toSeq).map(({ seq }) => seq));
  const reverted = recorded.filter(({ seq }) => seq > toSeq);
  return [...commands.map((one) => (inherited.has(one.seq) ? asInherited(one) : one)), ...reverted];
}

const asInherited = (command: KnownCommand): KnownCommand => ({ ...command, inherited: true });

/**
 * What a rewind must record of the commands, since its cut may also remove the event with which a clone begins: those that it reverts, which
 * were given nevertheless, and those up to `toSeq` that the clone has inherited. The time of the latter is 0, so that releases which do not
 * know of them take them for forgotten ones.
 */
export function commandsAtRewind(given: readonly KnownCommand[], toSeq: number): GivenCommand[] {
  const reverted = given.filter(({ seq, inherited }) => seq > toSeq && !inherited);
  const inherited = given.filter((one) => one.seq <= toSeq && one.inherited);
  return [...inherited.map(({ id, seq }) => ({ id, seq, at: 0 })), ...reverted];
}
