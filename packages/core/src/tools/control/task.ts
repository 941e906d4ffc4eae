import * as z from "zod/mini";
import type { Agent } from "../../config/agent.ts";
import type { Delegation } from "../../config/delegation.ts";
import type { NewEvent } from "../../events/event-map.ts";
import type { ThreadState } from "../../folds/state.ts";
import { instructionsOf } from "../../config/agent.ts";
import { childThreadId, seqOf } from "../../config/run-id.ts";
import { defineTool } from "../tool.ts";
import { toolSchema } from "./schema.ts";
import { ControlResult, type Settlement } from "./result.ts";

const MAX_PROMPT_CHARS = 100_000;

const text = z.string().check(z.minLength(1));
const Input = z.object({ agent: text, prompt: text.check(z.maxLength(MAX_PROMPT_CHARS)) });
type Input = z.infer<typeof Input>;

/** Delegates work to a subagent, and waits for its report. */
export function task(delegation: Delegation) {
  const agents = delegation.listed.map(({ name, description }) => `- ${name}: ${description}`);
  return defineTool({
    description: `Delegate a task to a subagent, which works on its own and answers with one report. Call it several times in one answer to run subagents at the same time.
A subagent sees nothing of this conversation: put everything it needs into the prompt. Its report is not shown to the user: pass on what matters.
The agents are:
${agents.join("\n")}`,
    category: "control",
    effect: "idempotent",
    input: toolSchema(Input),
    async execute(input, { threadId, toolCallId, key }) {
      const agent = await delegation.resolve(input.agent);
      if (!agent) throw new Error(unknownAgent(input.agent, delegation));
      const call = {
        threadId,
        toolCallId,
        runId: key,
        childThreadId: await childThreadId(key),
        // A fork has the instructions of its parent, so that the head of its prompt stays the same.
        instructions: agent.forked ? await instructionsOf(agent) : "",
      };
      return new ControlResult((state) => start(state, { agent, input, delegation, ...call }));
    },
  });
}

const unknownAgent = (name: string, { listed }: Delegation): string =>
  `There is no subagent "${name}". The subagents are: ${listed.map((one) => one.name).join(", ")}.`;

interface TaskCall {
  agent: Agent;
  input: Input;
  delegation: Delegation;
  threadId: string;
  toolCallId: string;
  runId: string;
  childThreadId: string;
  instructions: string;
}

function start(state: ThreadState, call: TaskCall): Settlement {
  const { agent, input, delegation, toolCallId, runId } = call;
  const { turn, agent: self } = state;
  if (!turn) return { content: "Not started: the turn has ended." };
  const depth = (self ? self.depth : delegation.agent.maxSubagentDepth) - 1;
  if (depth < 0) return { content: "Not started: subagents can't delegate any further here. Do the task yourself." };
  const event: NewEvent = {
    type: "subagent_start",
    turnId: turn.turnId,
    toolCallId,
    toolName: "task",
    runId,
    agentName: agent.name,
    childThreadId: call.childThreadId,
    path: [...(self?.path ?? []), agent.name],
    task: input.prompt,
    ...(call.instructions === "" ? {} : { input: `${call.instructions}\n\n${input.prompt}` }),
    forked: agent.forked,
    ...(agent.forked ? { source: { threadId: call.threadId, seq: seqOf(runId) } } : {}),
    session: "stateless",
    modeId: self?.modeId ?? turn.modeId,
    depth,
    ...(agent.model === undefined && !agent.forked ? { modelId: turn.modelId } : {}),
  };
  return { content: null, events: [event] };
}
