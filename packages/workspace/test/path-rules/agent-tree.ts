import { Agent, Harness, memoryStore, textOf, type AgentConfig, type HarnessConfig } from "@cinch/core";
import { call, say, scriptedBy, type ScriptedModel, type Step } from "@cinch/testkit";

export type ToolCall = [name: string, args: Record<string, unknown>];

export interface Answer {
  text: string;
  isError: boolean;
}

/** What the agent at the end of `to` does. In each step its calls are made at once. */
interface Job {
  to: readonly string[];
  steps: readonly (readonly ToolCall[])[];
  inBackground?: boolean;
}

/** Does the job in the last message, which is JSON, so that any process can continue its threads. Agents above the last one delegate. */
export const obedient = (): ScriptedModel => scriptedBy(answer);

function answer({ prompt }: Parameters<Parameters<typeof scriptedBy>[0]>[0]): Step {
  const jobs = prompt.map((message) => (message.role === "user" ? jobIn(JSON.stringify(message.content)) : undefined));
  const at = jobs.findLastIndex((job) => job !== undefined);
  const { to, steps, inBackground = false } = jobs[at]!;
  const done = prompt.slice(at + 1).filter(({ role }) => role === "assistant").length;
  const [next, ...further] = to;
  if (next === undefined) return done < steps.length ? call(...stepCalls(steps[done]!, done)) : say("done");
  if (done === 1 && inBackground) return call("agent_await", { ids: ["bg-1"], mode: "allSettled" });
  if (done > 0) return say("done");
  const prompted = encoded({ to: further, steps, inBackground });
  return call("task", { agent: next, prompt: prompted, ...(inBackground ? { background: true } : {}) });
}

const stepCalls = (calls: readonly ToolCall[], step: number): [string, unknown, string][] =>
  calls.map(([name, args], at) => [name, args, `c${step}-${at}`]);

export const encoded = (job: Job): string => Buffer.from(JSON.stringify(job)).toString("base64");

function jobIn(content: string): Job | undefined {
  const [, text = ""] = /"text":"([\w+/=]{20,})"/.exec(content) ?? [];
  try {
    return JSON.parse(Buffer.from(text, "base64").toString()) as Job;
  } catch {
    return undefined;
  }
}

type Level = Omit<AgentConfig, "name" | "subagents">;

/** An agent with a chain of subagents below it: "a", "b" and so on. `levels`: the top-level agent first. */
export function chain(levels: readonly Level[]): Agent {
  const [top = {}, ...below] = levels;
  let subagents: Agent[] = [];
  for (const [at, level] of [...below.entries()].toReversed()) {
    // A fork uses the model of its parent.
    const model = level.forked ? {} : { model: obedient() };
    subagents = [new Agent({ ...model, ...level, name: nameAt(at), subagents, subagentBackground: true })];
  }
  const rest = { model: obedient(), subagents, maxSubagentDepth: below.length, subagentBackground: true };
  return new Agent({ ...rest, ...top, name: "top" });
}

const nameAt = (at: number): string => String.fromCharCode(97 + at);

/** A harness with a chain of agents, whose last one makes the calls of a test. */
export class AgentTree {
  readonly harness: Harness;
  readonly #to: string[];
  readonly #answers = new Map<string, Answer>();

  constructor(levels: readonly Level[], config: Partial<HarnessConfig>) {
    this.#to = levels.slice(1).map((_, at) => nameAt(at));
    this.harness = new Harness({ id: "tree", agent: chain(levels), storage: memoryStore(), ...config });
  }

  async open(): Promise<this> {
    await this.harness.init();
    this.harness.subscribe((event) => {
      if (event.type !== "tool_end" && event.type !== "subagent_tool_end") return;
      if (event.type === "subagent_tool_end" && event.path.length < this.#to.length) return;
      this.#answers.set(event.toolCallId, { text: textOf(event.result.content), isError: event.isError });
    });
    return this;
  }

  /** Begins a turn in which the last agent makes the calls, step by step. */
  send(steps: readonly (readonly ToolCall[])[], { inBackground = false } = {}): ReturnType<Harness["sendMessage"]> {
    this.#answers.clear();
    return this.harness.sendMessage({ content: encoded({ to: this.#to, steps, inBackground }) });
  }

  /** The results of calls that are made one after the other. */
  async calls(...calls: ToolCall[]): Promise<Answer[]> {
    await this.send(calls.map((one) => [one]));
    return this.answers(calls.length);
  }

  /** The results of the last calls that were made one after the other. */
  answers(count: number): Answer[] {
    return Array.from({ length: count }, (_, step) => this.answerTo(step, 0));
  }

  /** The result of the call at this place in the step. */
  answerTo(step: number, at: number): Answer {
    return this.#answers.get(`c${step}-${at}`) ?? { text: "", isError: true };
  }

  get all(): Answer[] {
    return [...this.#answers.values()];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.harness.close();
  }
}

export const agentTree = (levels: readonly Level[], config: Partial<HarnessConfig>): Promise<AgentTree> =>
  new AgentTree(levels, config).open();
