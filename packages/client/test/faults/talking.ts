import { Agent, defineTool, type HarnessConfig, type Memory } from "@cinch/core";
import { call, say, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";

/**
 * An agent whose answers depend only on the prompt, so that any process can continue a turn: it uses the tools that the newest message of
 * the user names, one after the other, and then answers.
 */
const model = scriptedBy(({ prompt }) => {
  const at = prompt.findLastIndex(({ role }) => role === "user");
  const asked = JSON.stringify(prompt[at]?.content ?? "");
  const answers = prompt.slice(at).filter(({ role }) => role === "assistant").length;
  const uses = [...asked.matchAll(/use (\w+)/g)].map(([, name]) => name!);
  const tool = uses[answers];
  return tool === undefined ? saying(asked) : call(tool, {}, `${tool}-${prompt.length}`);
});

const saying = (asked: string): Step =>
  say(`This is what I think about it, in many small deltas: ${asked}`, { size: 3, delayMs: 1 });

/** Counts how often it runs. */
export class CountedTool {
  runs = 0;

  readonly tool = defineTool({
    description: "Counts",
    input: z.object({}),
    execute: async (_, { emit }) => {
      emit({ half: true });
      await new Promise((resolve) => setTimeout(resolve, 2));
      return `run ${++this.runs}`;
    },
  });
}

const question = defineTool({
  description: "Asks a person",
  effect: "pure",
  input: z.object({}),
  execute: (_, { suspend, resumed }) => (resumed ? `Answer: ${String(resumed.data)}` : suspend({ question: "Which?" })),
});

/** Summarises everything when it is asked to. */
const memory: Memory = {
  plan: ({ isRequested, boundaries, fromSeq }) => {
    const range: [number, number] = [fromSeq, boundaries.at(-1)?.seq ?? 0];
    const cut = isRequested ? { kind: "summarise" as const, range, reason: "requested" as const } : null;
    return { cut, observe: null, reflect: null };
  },
  summarise: async () => "They talked.",
};

export function talkingConfig(tools: {
  count: CountedTool;
  guarded: CountedTool;
}): Pick<HarnessConfig, "id" | "modes" | "permissions" | "memory" | "resolveModel"> {
  const agent = new Agent({
    name: "talker",
    instructions: "Talk.",
    model,
    tools: { count: tools.count.tool, guarded: tools.guarded.tool, question },
  });
  return {
    id: "talking",
    memory,
    resolveModel: () => model,
    permissions: [
      { toolName: "count", policy: "allow" },
      { toolName: "question", policy: "allow" },
      { toolName: "guarded", policy: "ask" },
    ],
    modes: ["loud", "quiet"].map((id) => ({ id, name: id, agent })),
  };
}
