import * as z from "zod/mini";
import { abort } from "../../commands/abort.ts";
import { SignedThread } from "../../thread/signed-thread.ts";
import type { AwaitMode, BackgroundOptions } from "../../config/subagent-options.ts";
import { noteId } from "../../config/run-id.ts";
import type { NewEvent } from "../../events/event-map.ts";
import { textOf } from "../../events/message.ts";
import { awaited, type AwaitPayload } from "../../folds/awaited.ts";
import { isQueued, type BackgroundAgent, type Run } from "../../folds/runs.ts";
import type { ThreadState } from "../../folds/state.ts";
import { trieEntries, trieGet } from "../../folds/trie.ts";
import { stateAfter } from "../../turn/decide.ts";
import { cancelledBeforeStart, endRun } from "../../turn/ended-run.ts";
import { defineTool, type ToolSet } from "../tool.ts";
import { hostOf, suspendForChildren, type ControlHost } from "./host.ts";
import { toolSchema } from "./schema.ts";
import { ControlResult } from "./result.ts";

const ids = () => z.array(z.string().check(z.minLength(1))).check(z.minLength(1));

/** The tools for subagents in the background. */
export function agentTools({ tools }: BackgroundOptions): ToolSet {
  return {
    ...(tools.status ? { agent_status: agentStatus } : {}),
    ...(tools.await.length > 0 ? { agent_await: agentAwait(tools.await) } : {}),
    ...(tools.cancel ? { agent_cancel: agentCancel } : {}),
  };
}

const agentStatus = defineTool({
  description:
    "Show how far background subagents are, and the reports of those that have ended. Without ids: all of them.",
  category: "control",
  effect: "pure",
  input: toolSchema(() => z.object({ ids: z.optional(ids()) })),
  async execute({ ids: wanted }, context) {
    const host = hostOf(context);
    const agents = wanted ? agentsOf(host.state, wanted) : Array.from(trieEntries(host.state.runs.background));
    if (agents.length === 0) return "There are no background subagents.";
    return reported(await reports(host, agents), agents);
  },
});

const MEANING: Record<AwaitMode, string> = {
  all: "until all have succeeded; fails as soon as one fails",
  allSettled: "until all have ended",
  any: "until one has succeeded; fails if all fail",
  race: "until one has ended",
};
const MAX_WAIT_MS = 24 * 3600 * 1000;

const agentAwait = (modes: readonly AwaitMode[]) =>
  defineTool({
    description: `Wait for background subagents, and get their reports. A new message of the user ends the wait early. Modes:
${modes.map((mode) => `- ${mode}: ${MEANING[mode]}`).join("\n")}`,
    category: "control",
    effect: "pure",
    input: toolSchema(() =>
      z.object({
        ids: ids(),
        mode: z.enum(modes as [AwaitMode, ...AwaitMode[]]),
        timeout_ms: z.optional(z.int().check(z.gte(1), z.lte(MAX_WAIT_MS))),
      }),
    ),
    async execute({ ids: wanted, mode, timeout_ms: timeoutMs }, context) {
      const host = hostOf(context);
      const agents = agentsOf(host.state, wanted);
      const until = timeoutMs === undefined ? null : host.now() + timeoutMs;
      const outcome = awaited(host.state, { ids: wanted, mode, until });
      if (outcome === null && !context.resumed)
        return suspendForChildren(context, { ids: wanted, mode, until } satisfies AwaitPayload);
      const why = outcome === null ? `${String(context.resumed?.data)} Not all of them have ended.\n\n` : "";
      return reported(`${why}${await reports(host, agents)}`, agents, outcome === "failed");
    },
  });

const agentCancel = defineTool({
  description: "Stop background subagents, with everything that they have started.",
  category: "control",
  effect: "idempotent",
  input: toolSchema(() => z.object({ ids: ids() })),
  async execute({ ids: wanted }, context) {
    const host = hostOf(context);
    const before = agentsOf(host.state, wanted);
    const runs = before.flatMap(([, { runId }]) => trieGet(host.state.runs.unfinished, runId) ?? []);
    const started = await Promise.all(runs.map((run) => host.hasStarted(run)));
    const queued = runs.filter((_, at) => !started[at]);
    const running = runs.filter((_, at) => started[at]);
    // Before the others: each that stops gives its place to one of these.
    if (queued.length > 0)
      await host.visit(context.threadId, (thread) =>
        thread.command((state) => ({ events: queued.flatMap((run) => cancelledEnd(state, run)) })),
      );
    const asked = Promise.all(
      running.map((run) => host.visit(run.childThreadId, (child) => abort(new SignedThread(child), { inbox: true }))),
    );
    const stopped = host.until(({ runs: { unfinished } }) => running.every(({ runId }) => !trieGet(unfinished, runId)));
    // Rejects if a subagent could not be asked to stop. One that does not stop in time is reported as such.
    await Promise.race([stopped, asked.then(() => stopped)]);
    return new ControlResult((state) => {
      const events = withoutNotes(state, agentsOf(state, wanted));
      const after = new Map(agentsOf(stateAfter(state, events), wanted));
      const isLeft = ([agentId]: Agents[number]) => after.get(agentId)?.status === null;
      const lines = before.map(
        (one) => `${one[0]} (${one[1].agentName}): ${isLeft(one) ? NOT_STOPPED : howStopped(one[1])}`,
      );
      return { content: lines.join("\n"), isError: before.some(isLeft), events };
    });
  },
});

const NOT_STOPPED = "not stopped yet. It was asked to; agent_status shows when it has ended.";

/** `before`: as it was when the call began. */
const howStopped = ({ status }: BackgroundAgent): string =>
  status === null ? "stopped." : `had ended before: ${status}.`;

/** The end of a run that has not started. */
function cancelledEnd({ runs }: ThreadState, run: Run): NewEvent[] {
  const isUnfinished = trieGet(runs.unfinished, run.runId) !== undefined;
  return isUnfinished ? endRun(run, cancelledBeforeStart) : [];
}

type Agents = [agentId: string, agent: BackgroundAgent][];

/** Throws for an unknown id. */
function agentsOf({ runs }: ThreadState, wanted: readonly string[]): Agents {
  return wanted.map((agentId) => {
    const agent = trieGet(runs.background, agentId);
    if (agent) return [agentId, agent];
    const known = Array.from(trieEntries(runs.background), ([one]) => one);
    throw new Error(`There is no background subagent "${agentId}". There are: ${known.join(", ") || "none"}.`);
  });
}

async function reports(host: ControlHost, agents: Agents): Promise<string> {
  const texts = agents.map(async ([agentId, { agentName, runId, status, endSeq }]) => {
    if (status === null) return `${agentId} (${agentName}): ${howFar(host, runId)}`;
    const end = await host.event(endSeq);
    const text = end?.type === "subagent_end" ? textOf(end.result.content) : "";
    return `${agentId} (${agentName}): ${status}\n${text}`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

/** How far an unfinished run is. */
function howFar({ state: { runs }, isWaiting }: ControlHost, runId: string): string {
  const run = trieGet(runs.unfinished, runId);
  if (run && isQueued(runs, run)) return "queued";
  return run && isWaiting(run.childThreadId) ? "waits for a person" : "running";
}

/** A result that reports the end of subagents makes the notes about these ends unnecessary. */
const reported = (content: string, agents: Agents, isError = false): ControlResult =>
  new ControlResult((state) => ({ content, isError, events: withoutNotes(state, agents) }));

function withoutNotes({ inbox }: ThreadState, agents: Agents): NewEvent[] {
  const notes = new Set(agents.flatMap(([, { runId, status }]) => (status === null ? [] : [noteId(runId)])));
  return inbox.filter(({ inputId }) => notes.has(inputId)).map(({ inputId }) => ({ type: "input_removed", inputId }));
}
