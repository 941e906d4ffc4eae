import type { DurableEvent } from "@cinch/core";
import { newThreadState, noUsage, reduceThread, type NewEvent } from "@cinch/core/journal";
import type { Act } from "./journal.ts";

/** What a memory appends about the events after those that are covered, up to a share of the journal. */
export function memoryEvent(events: readonly DurableEvent[], { how, at }: Extract<Act, { kind: "memory" }>): NewEvent {
  const { context } = events.reduce(reduceThread, newThreadState);
  const { blocks, buffered, coveredSeq } = context.memory;
  const to = (after: number) => Math.max(after, events[Math.floor(at * (events.length - 1))]!.seq);
  const made = { tokens: 9, modelId: "some/model", usage: noUsage, cost: null, cutSeq: context.cutSeq };
  const kept = events.filter(({ type, seq }) => type === "message_end" && seq <= to(0) && seq % 3 === 0);
  const cut = { bodyTokens: 9, by: "openai.chat", kept: kept.map(({ seq }) => seq), keptTokens: 9 };
  const rest: [number, number] = [coveredSeq + 1, to(coveredSeq + 1)];
  switch (how) {
    case "observes": {
      const from = (buffered.at(-1)?.range[1] ?? coveredSeq) + 1;
      return { type: "om_observation_end", range: [from, to(from)], blob: "blob-a", currentTask: "Look", ...made };
    }
    case "reflects": {
      const range: [number, number] = [blocks[0]?.range[0] ?? 1, blocks[0]?.range[1] ?? 1];
      return { type: "om_reflection_end", range, blob: "blob-b", ...made };
    }
    case "activates":
      return {
        type: "om_activation",
        range: [coveredSeq + 1, buffered[0]?.range[1] ?? coveredSeq],
        ...cut,
        reflected: true,
        reason: "threshold",
      };
    case "summarises":
      return { type: "context_summarised", range: rest, blob: "blob-a", tokens: 9, ...cut, reason: "window" };
    case "leaves out":
      return { type: "context_summarised", range: rest, tokens: 0, ...cut, reason: "overflow" };
    case "loads a skill":
      return {
        type: "skill_loaded",
        name: `skill-${to(0) % 3}`,
        path: "/skills",
        blob: "blob-b",
        tokens: 9,
        allowed: [],
      };
    case "asks":
      return { type: "compaction_requested", instructions: "Keep the names." };
    case "fails":
      return { type: "om_observation_end", range: rest, ...made, tokens: 0, dropped: "Too late." };
  }
}
