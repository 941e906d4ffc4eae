import type { SeqRange } from "../events/context-events.ts";
import type { Part, Usage } from "../events/message.ts";
import { blockTokens } from "../folds/context.ts";
import { skillTokens } from "../folds/memory-blocks.ts";
import { tokensOfContent, tokensOfJson, tokensOfText } from "../folds/tokens.ts";
import { entriesOf, type TranscriptEntry } from "../folds/transcript.ts";
import type { Head } from "../model/prompt.ts";
import type { Thread } from "../thread/thread.ts";
import { resourceTextIn } from "../turn/resource-memory.ts";
import type { Setup } from "../turn/setup.ts";

/** Where the tokens of the next prompt go. Estimates, corrected by what the provider reported for the last prompt. */
export interface ContextExplanation {
  modelId: string;
  /** How many tokens the model takes. */
  window: number;
  total: number;
  parts: {
    instructions: number;
    tools: number;
    skills: number;
    memory: number;
    observations: number;
    messages: number;
    toolResults: number;
  };
  /** What the prompt does not hold, oldest first, and what stands for it. */
  leftOut: { range: SeqRange; reason: "observed" | "summarised" | "left out"; tokens: number }[];
  /** Observations that will stand in the prompt after the next activation. */
  buffered: SeqRange[];
  /** What the memory's own requests have used so far: a part of the thread's usage. In dollars, without unknown prices. */
  memory: { usage: Usage; cost: number };
}

const REASONS = {
  observation: "observed",
  reflection: "observed",
  summary: "summarised",
  left_out: "left out",
} as const;

export async function explainContext(thread: Thread): Promise<ContextExplanation> {
  const { state, ports } = thread;
  const { memory, ratio } = state.context;
  const setup = ports.modes.setup(state.control);
  const head = (await recordedHead(thread)) ?? (await nextHead(setup));
  const entries = entriesOf(await thread.transcript());
  const corrected = (estimate: number) => Math.ceil(estimate * ratio);
  const isResults = (entry: TranscriptEntry) => entry.kind === "results";
  const ofSources = (kind: "skills" | "memory") =>
    ports.sources
      .filter((source) => (source.kind ?? "memory") === kind)
      .reduce((total, { name }) => total + (state.head?.sources[name]?.tokens ?? 0), 0);
  const shared = tokensOfText(resourceTextIn(head.system));
  const [skills, added] = [ofSources("skills"), ofSources("memory") + shared];
  const parts = {
    instructions: corrected(Math.max(0, tokensOfText(head.system) - skills - added)),
    tools: corrected(tokensOfJson(head.tools)),
    skills: corrected(skills + skillTokens(memory)),
    memory: corrected(added),
    observations: corrected(blockTokens(memory)),
    messages: corrected(sum(entries.filter((entry) => !isResults(entry)))),
    toolResults: corrected(sum(entries.filter(isResults))),
  };
  return {
    modelId: setup.modelId,
    window: setup.window,
    total: Object.values(parts).reduce((total, tokens) => total + tokens, 0),
    parts,
    leftOut: memory.blocks.map(({ kind, range, tokens }) => ({
      range,
      reason: REASONS[kind],
      tokens: corrected(tokens),
    })),
    buffered: memory.buffered.map(({ range }) => range),
    memory: state.context.used,
  };
}

async function recordedHead({ state, ports }: Thread): Promise<Head | undefined> {
  const bytes = state.head && (await ports.store.blob(state.head.blob));
  return bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as Head) : undefined;
}

async function nextHead({ delegation, head }: Setup): Promise<Head> {
  const subagents = delegation && ((await delegation.list()) ?? []);
  return (await head(subagents).make()).head;
}

function sum(entries: readonly TranscriptEntry[]): number {
  const contents = entries.flatMap((entry): (string | readonly Part[])[] =>
    entry.kind === "results" ? entry.results.map(({ result }) => result.content) : [entry.parts],
  );
  return contents.reduce((total, content) => total + tokensOfContent(content), 0);
}
