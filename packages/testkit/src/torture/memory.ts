import { defineTool, type Harness, type Memory, type Store, type ThreadRecord } from "@cinch/core";
import * as z from "zod";
import { call, say, type Step } from "../model.ts";

const TURNS = 50;
export const memoryOrders: Record<string, Step[]> = Object.fromEntries(
  Array.from({ length: TURNS }, (_, at) => [
    `remember ${at + 1}`,
    [at === 0 ? call("learn", {}) : say("remembered"), say("learnt")],
  ]),
);

/** Loads a skill, as the tool `skill` does. */
export const learn = defineTool({
  description: "learn",
  category: "control",
  effect: "pure",
  input: z.object({}),
  execute(_, { loadSkill }) {
    loadSkill({
      name: "obeying",
      path: "/skills/obeying",
      instructions: "Obey.",
      allowedTools: [{ toolName: "once" }],
    });
    return "Obey.";
  },
});

/** The threads whose prompt the memory may change. In the others the model counts its answers. */
const remembering = new Set<string>();

/** Observes and condenses whatever it can, and replaces it at once. */
export const tortureMemory: Memory = {
  plan({ threadId, boundaries, buffered, blocks, reflection, fromSeq, isRequested }) {
    const last = boundaries.at(-1)?.seq ?? 0;
    const from = (buffered.at(-1)?.range[1] ?? fromSeq - 1) + 1;
    if (!remembering.has(threadId)) return { cut: null, observe: null, reflect: null };
    const activate = { kind: "activate", toSeq: buffered.at(-1)?.range[1] ?? 0, reason: "threshold" } as const;
    const summarise = { kind: "summarise", range: [fromSeq, last] as [number, number], reason: "requested" } as const;
    const due = isRequested && last >= fromSeq ? summarise : null;
    return {
      cut: due ?? (buffered.length > 0 ? activate : null),
      observe: last >= from ? [from, last] : null,
      reflect: blocks.length > 1 && !reflection ? [blocks[0]!.range[0], blocks.at(-1)!.range[1]] : null,
    };
  },
  observe: async () => ({ text: "What was seen there.", currentTask: "Remember" }),
  reflect: async () => "Seen.",
  summarise: async () => "It was all seen.",
};

/** Turns until a reflection stands in the prompt, then a requested summary. */
export async function playMemory(
  h: Harness,
  { store, main, accepted }: { store: Store; main: ThreadRecord; accepted(what: string): void },
): Promise<void> {
  remembering.add(main.id);
  const events = async () => await store.read(main.id);
  for (let n = 1; n <= TURNS; n++) {
    if ((await events()).some((event) => event.type === "om_activation" && event.reflected)) break;
    await h.sendMessage({ id: `remember-${n}`, content: `DO remember ${n}` });
    accepted(`input remember-${n}`);
    // The observer works beside the turns.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const isSummarised = (await events()).some((event) => event.type === "context_summarised" && event.range);
  if (!isSummarised) await h.compact();
  remembering.delete(main.id);
}
