import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as z from "zod/mini";
import { instructionsOf, type Agent } from "../../config/agent.ts";
import { isGeneralPurpose, type Delegation } from "../../config/delegation.ts";
import { childThreadId, seqOf } from "../../config/run-id.ts";
import type { ListedAgent, NewEvent } from "../../events/event-map.ts";
import type { Call } from "../../folds/call.ts";
import type { ThreadState } from "../../folds/state.ts";
import { trieEntries, trieGet } from "../../folds/trie.ts";
import { defineTool, type ToolContext } from "../tool.ts";
import { hostOf, type ControlHost } from "./host.ts";
import { toolSchema } from "./schema.ts";
import { ControlResult, type Settlement } from "./result.ts";

const MAX_PROMPT_CHARS = 100_000;

const text = () => z.string().check(z.minLength(1));
const Base = () => z.object({ agent: text(), prompt: text().check(z.maxLength(MAX_PROMPT_CHARS)) });
const Session = () => z.object({ mode: z.enum(["stateless", "new", "resume", "fork"]), id: z.optional(text()) });
type Session = z.infer<ReturnType<typeof Session>>;
type Input = z.infer<ReturnType<typeof Base>> & { session?: Session | undefined; background?: boolean | undefined };

/** Delegates work to a subagent, and waits for its report, or starts the subagent in the background. */
export function task(delegation: Delegation, { hasGeneralPurpose }: { hasGeneralPurpose: boolean }) {
  const { subagentSessions: sessions, subagentBackground: background } = delegation.agent;
  const input = () =>
    z.extend(Base(), {
      ...(sessions ? { session: z.optional(Session()) } : {}),
      ...(background ? { background: z.optional(z.boolean()) } : {}),
    });
  return defineTool<Input>({
    description: description(delegation),
    category: "control",
    effect: "idempotent",
    input: toolSchema(input) as StandardSchemaV1<unknown, Input>,
    async execute(given, context) {
      const agent = await delegation.resolve(given.agent);
      const isOff = agent !== undefined && !hasGeneralPurpose && isGeneralPurpose(agent);
      if (!agent || isOff) {
        const listed = hostOf(context).state.head?.subagents ?? [];
        throw new Error(
          unknownAgent(given.agent, hasGeneralPurpose ? listed : listed.filter((one) => !isGeneralPurpose(one))),
        );
      }
      if (isFork(agent, modeOf(given, delegation))) hostOf(context).keepForFork(context.key);
      const child = await childOf(given, delegation, context);
      const { threadId, toolCallId, key: runId } = context;
      // A fork has the instructions of its parent, so that the head of its prompt stays the same.
      const instructions = agent.forked ? await instructionsOf(agent) : "";
      const call = { agent, input: given, delegation, threadId, toolCallId, runId, child, instructions };
      if (given.background) await untilFirst(context, hostOf(context));
      return new ControlResult((state) => start(state, call));
    },
  });
}

/** Subagents in the background are numbered and queued in the order of their calls. A call that takes too long to start loses its place. */
const untilFirst = ({ key, signal }: Pick<ToolContext, "key" | "signal">, host: ControlHost): Promise<void> =>
  host.until(({ turn }) => signal.aborted || !startsBefore(turn?.calls ?? [], key));

function startsBefore(calls: readonly Call[], key: string): boolean {
  const own = calls.findIndex((call) => call.key === key);
  return calls.slice(0, own).some(({ toolName, state }) => toolName === "task" && state === "started");
}

function description({ agent }: Delegation): string {
  const lines = [
    "Delegate a task to a subagent, which works on its own and answers with one report. Call it several times in one answer to run subagents at the same time.",
    "A subagent sees nothing of this conversation: put everything it needs into the prompt. Its report is not shown to the user: pass on what matters.",
  ];
  if (agent.subagentSessions)
    lines.push(
      'A session keeps the subagent\'s conversation. session: { mode: "new" } starts one, and its result has a session_id; { mode: "resume", id } continues it; { mode: "fork", id } continues a copy of it.',
    );
  if (agent.subagentBackground)
    lines.push(
      "With background: true the call answers at once with an agent_id, and the subagent works while you go on.",
    );
  return lines.join("\n");
}

/** The description of `task` as the model gets it. */
export const withAgents = (what: string, agents: readonly ListedAgent[]): string =>
  [what, "The agents are:", ...agents.map((agent) => `- ${agent.name}: ${agent.description}`)].join("\n");

const unknownAgent = (name: string, listed: readonly ListedAgent[]): string =>
  `There is no subagent "${name}". The subagents are: ${listed.map((one) => one.name).join(", ") || "none"}.`;

type SessionMode = Session["mode"];

const modeOf = ({ session }: Input, { agent }: Delegation): SessionMode =>
  session?.mode ?? agent.subagentSessions?.defaultMode ?? "stateless";

/** Whether the run begins with the conversation of its caller. That of a session goes on with its own. */
const isFork = ({ forked }: Agent, mode: SessionMode): boolean => forked && mode !== "resume" && mode !== "fork";

/** The thread in which the run takes place. */
interface Child {
  threadId: string;
  mode: SessionMode;
  /** The thread of the session that is copied, and its newest event. */
  source?: { threadId: string; seq: number };
}

/** Throws if the session can't be used. */
async function childOf(input: Input, delegation: Delegation, context: ToolContext): Promise<Child> {
  const mode = modeOf(input, delegation);
  const id = input.session?.id;
  const fresh = await childThreadId(context.key);
  if (mode === "stateless" || mode === "new") return { threadId: fresh, mode };
  if (id === undefined) throw new Error(`session: { mode: "${mode}" } needs the id of a session.`);
  const host = hostOf(context);
  const { runs } = host.state;
  const session = trieGet(runs.sessions, id);
  const record = session && (await host.record(id));
  if (!record) throw new Error(`There is no session "${id}" here.${known(runs)}`);
  const { agentName, modeId } = session;
  if (agentName !== input.agent)
    throw new Error(`Session "${id}" is one of the subagent "${agentName}", not of "${input.agent}".`);
  const unfinished = Array.from(trieEntries(runs.unfinished), ([, run]) => run);
  const isOfOtherCall = unfinished.some((run) => run.childThreadId === id && run.runId !== context.key);
  // A call that runs again after a crash may have started its run, which then is what makes the session active.
  const isBusy = record.active && !trieGet(runs.unfinished, context.key);
  if (isOfOtherCall || isBusy) throw new Error(`Session "${id}" is running. Wait for its end first.`);
  if (mode === "fork") return { threadId: fresh, mode, source: { threadId: id, seq: await host.lastSeq(id) } };
  if (record.parentId !== context.threadId)
    throw new Error(
      `Session "${id}" belongs to the conversation that this one was cloned from. It can be forked, not resumed.`,
    );
  // The thread of a session is judged in the mode that its first run recorded.
  if (modeId !== delegatingModeId(host.state))
    throw new Error(`Session "${id}" was started in mode "${modeId}". In another mode it can be forked, not resumed.`);
  return { threadId: id, mode };
}

/** The mode of the top-level thread's step. */
const delegatingModeId = ({ agent, turn }: ThreadState): string | undefined => agent?.modeId ?? turn?.modeId;

function known({ sessions }: ThreadState["runs"]): string {
  const ids = Array.from(trieEntries(sessions), ([id, { agentName }]) => `${id} (${agentName})`);
  return ids.length === 0 ? "" : ` The sessions are: ${ids.slice(-20).join(", ")}.`;
}

interface TaskCall {
  agent: Agent;
  input: Input;
  delegation: Delegation;
  threadId: string;
  toolCallId: string;
  runId: string;
  child: Child;
  instructions: string;
}

function start(state: ThreadState, call: TaskCall): Settlement {
  const { agent, input, delegation, toolCallId, runId, child } = call;
  const { turn, agent: self } = state;
  if (!turn || turn.aborting) return { content: "Not started: the turn was aborted.", isError: true };
  // A child is judged in the mode that its record names, so the agent of an entered mode could not bind it.
  if (self && turn.modeId !== self.modeId)
    return {
      content: "Not started: a fork can't delegate in a mode that it has entered. Do the task yourself.",
      isError: true,
    };
  const depth = (self ? self.depth : delegation.agent.maxSubagentDepth) - 1;
  if (depth < 0)
    return { content: "Not started: subagents can't delegate any further here. Do the task yourself.", isError: true };
  const source = isFork(agent, child.mode) ? { threadId: call.threadId, seq: seqOf(runId) } : child.source;
  const background = input.background ? backgroundOf(state, delegation) : undefined;
  const event: NewEvent = {
    type: "subagent_start",
    turnId: turn.turnId,
    toolCallId,
    toolName: "task",
    runId,
    agentName: agent.name,
    childThreadId: child.threadId,
    path: [...(self?.path ?? []), agent.name],
    task: input.prompt,
    ...(call.instructions === "" ? {} : { input: `${call.instructions}\n\n${input.prompt}` }),
    forked: agent.forked,
    session: child.mode,
    ...(source ? { source } : {}),
    modeId: self?.modeId ?? turn.modeId,
    ...(agent.model === undefined && !source && child.mode !== "resume" ? { modelId: turn.modelId } : {}),
    depth,
    ...(background ? { background } : {}),
  };
  if (!background) return { content: null, events: [event] };
  const { agentId } = background;
  const before = unfinishedInBackground(state);
  const isQueued = before >= (background.maxConcurrent ?? Infinity);
  const started = {
    agentId,
    runId,
    childThreadId: child.threadId,
    status: isQueued ? ("queued" as const) : ("running" as const),
  };
  const session = child.mode === "stateless" ? "" : ` session_id="${child.threadId}"`;
  const how = isQueued ? `Queued: ${before} before it.` : "Started in the background.";
  return {
    content: `<task_result agent_id="${agentId}"${session}>\n${how}\n</task_result>`,
    events: [event, { type: "background_started", turnId: turn.turnId, ...started }],
  };
}

const unfinishedInBackground = ({ runs }: ThreadState): number =>
  Array.from(trieEntries(runs.unfinished)).filter(([, run]) => run.background !== undefined).length;

function backgroundOf({ runs }: ThreadState, { agent: { subagentBackground: options } }: Delegation) {
  const { maxConcurrent = Infinity, timeout, wake = true } = options ?? {};
  return {
    agentId: `bg-${runs.backgroundCount + 1}`,
    ...(maxConcurrent === Infinity ? {} : { maxConcurrent }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    wake,
  };
}
