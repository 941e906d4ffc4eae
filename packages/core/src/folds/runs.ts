import type { DurableEvent, RunStatus } from "../events/event-map.ts";
import { ownerOf } from "../config/run-id.ts";
import type { Ended, ThreadState } from "./state.ts";
import { emptyTrie, trieDelete, trieEntries, trieGet, trieKeys, trieSet, type Trie } from "./trie.ts";

type Start = DurableEvent<"subagent_start">;

/** A run whose end is not recorded: what its `subagent_start` says. */
export type Run = Pick<
  Start,
  | "runId"
  | "toolCallId"
  | "agentName"
  | "childThreadId"
  | "path"
  | "task"
  | "input"
  | "forked"
  | "session"
  | "source"
  | "modeId"
  | "modelId"
  | "depth"
  | "background"
  | "seq"
  | "at"
> & { turnId: string };

/** A background child, also after its end. */
export interface BackgroundAgent {
  runId: string;
  agentName: string;
  childThreadId: string;
  /** `null`: it has not ended. */
  status: RunStatus | null;
  /** The `seq` of its `subagent_end`, which has the result. */
  endSeq: number;
}

/** `modeId`: the mode of the step that started it, which its thread is bound to. */
export type SubagentSession = Pick<Start, "agentName" | "modeId">;

/** The children that a thread has started. */
export interface Runs {
  /** By run id. */
  unfinished: Trie<Run>;
  /** By agent id. */
  background: Trie<BackgroundAgent>;
  /** How many were started, also in the history that a clone inherits: no id is given twice. */
  backgroundCount: number;
  /** The sessions that can be resumed or forked, by their thread. */
  sessions: Trie<SubagentSession>;
  /** The runs that started up to this event are cancelled. */
  cancelledUpTo: number;
}

export const noRuns: Runs = {
  unfinished: emptyTrie,
  background: emptyTrie,
  backgroundCount: 0,
  sessions: emptyTrie,
  cancelledUpTo: 0,
};

/** Whether a run must end. One of the foreground does not outlive its turn. */
export function isCancelled({ runs, turn }: RunOwner, run: Run): boolean {
  return run.seq <= runs.cancelledUpTo || (!run.background && turn?.turnId !== run.turnId);
}

/** Whether a run in the background waits until others have ended. */
export function isQueued({ unfinished }: Runs, { seq, background }: Run): boolean {
  const before = Array.from(trieEntries(unfinished)).filter(([, run]) => run.background && run.seq < seq);
  return background !== undefined && before.length >= (background.maxConcurrent ?? Infinity);
}

interface RunOwner {
  runs: Runs;
  turn: { turnId: string } | null;
}

/** Whether a turn of a subagent's thread works, or has worked, on a run: a person may begin others. */
export const worksOnRun = (agent: ThreadState["agent"], { inputIds }: Pick<Ended, "inputIds">): boolean =>
  agent !== null && Array.from(trieKeys(inputIds)).some((id) => ownerOf(id) === agent.owner);

/** Whether a child has not ended this run yet. */
export const isOpenIn = ({ inbox, turn }: ThreadState, runId: string): boolean =>
  inbox.some((item) => item.inputId === runId) || (turn !== null && trieGet(turn.inputIds, runId) !== undefined);

/** The run of `owner` that a turn of its child works on, or worked on last. `undefined`: it is no run, or its end is recorded. */
export function runOfTurn(child: ThreadState, turnId: string | undefined, owner: ThreadState): Run | undefined {
  const one = child.turn?.turnId === turnId ? child.turn : child.ended;
  return one && one.turnId === turnId ? firstOf(trieKeys(one.inputIds), owner.runs) : undefined;
}

function firstOf(runIds: Iterable<string>, { unfinished }: Runs): Run | undefined {
  for (const runId of runIds) {
    const run = trieGet(unfinished, runId);
    if (run) return run;
  }
  return undefined;
}

/** Whether a thread works on a run that must end: its caller has cancelled it, or the caller's own run must end. */
export function worksOnCancelledRun(child: ThreadState, [owner, ...above]: readonly ThreadState[]): boolean {
  if (!owner) return false;
  const queued = child.inbox.map(({ inputId }) => inputId);
  const run = firstOf(queued, owner.runs) ?? runOfTurn(child, child.turn?.turnId, owner);
  return run !== undefined && (isCancelled(owner, run) || worksOnCancelledRun(owner, above));
}

/** Whether an abort has cancelled runs whose end is not recorded yet. */
export const hasCancelledRuns = ({ unfinished, cancelledUpTo }: Runs): boolean =>
  Array.from(trieEntries(unfinished)).some(([, run]) => run.seq <= cancelledUpTo);

/** Whether an abort would cancel runs: the last one came before them, or left them alone. */
export const hasUncancelledRuns = ({ unfinished, cancelledUpTo }: Runs): boolean =>
  Array.from(trieEntries(unfinished)).some(([, run]) => run.seq > cancelledUpTo);

export function reduceRuns(runs: Runs, event: DurableEvent): Runs {
  switch (event.type) {
    case "subagent_start":
      return {
        ...runs,
        unfinished: trieSet(runs.unfinished, event.runId, runOf(event)),
        ...inBackground(runs, event),
        ...inSession(runs, event),
      };
    case "subagent_end":
      return { ...settled(runs, event), unfinished: trieDelete(runs.unfinished, event.runId) };
    case "abort_requested":
      return runs.unfinished.size === 0 || event.keepsBackground ? runs : { ...runs, cancelledUpTo: event.seq };
    case "thread_rewound":
      return withReverted(withoutUnfinished(runs, isInherited(event.threadId)), event);
    case "thread_cloned":
      return { ...withoutUnfinished(runs, () => true), cancelledUpTo: 0 };
    default:
      return runs;
  }
}

function runOf(event: Start): Run {
  const { runId, toolCallId, agentName, childThreadId, path, task, forked, session, modeId, depth, seq, at } = event;
  const { source, background, modelId, input, turnId = "" } = event;
  const run = {
    runId,
    turnId,
    toolCallId,
    agentName,
    childThreadId,
    path,
    task,
    forked,
    session,
    modeId,
    depth,
    seq,
    at,
  };
  return {
    ...run,
    ...(source && { source }),
    ...(input !== undefined && { input }),
    ...(modelId !== undefined && { modelId }),
    ...(background && { background }),
  };
}

function inSession({ sessions }: Runs, { session, childThreadId, agentName, modeId }: Start): Partial<Runs> {
  return session === "stateless" ? {} : { sessions: trieSet(sessions, childThreadId, { agentName, modeId }) };
}

function inBackground(
  { background, backgroundCount }: Runs,
  { background: options, runId, agentName, childThreadId }: Start,
): Partial<Runs> {
  if (!options) return {};
  const agent = { runId, agentName, childThreadId, status: null, endSeq: 0 };
  return { background: trieSet(background, options.agentId, agent), backgroundCount: backgroundCount + 1 };
}

/** `background_settled` says the same right after it: a clone or a rewind may cut between the two. */
function settled(runs: Runs, { runId, childThreadId, status, seq }: DurableEvent<"subagent_end">): Runs {
  const run = trieGet(runs.unfinished, runId);
  if (!run?.background) return runs;
  const agent = { runId, agentName: run.agentName, childThreadId, status, endSeq: seq };
  return { ...runs, background: trieSet(runs.background, run.background.agentId, agent) };
}

/** They are as old as the rewind: an earlier event does not know them. */
function withReverted(runs: Runs, { runs: reverted = [], seq, at }: DurableEvent<"thread_rewound">): Runs {
  const rest = { task: "", forked: false, session: "stateless" as const, modeId: "", depth: 0, seq, at };
  const unfinished = reverted.reduce((all, run) => trieSet(all, run.runId, { ...run, ...rest }), runs.unfinished);
  return { ...runs, unfinished };
}

/** Whether the source of a clone has started a run. A preview has no thread: there, all runs are the thread's own. */
const isInherited =
  (threadId: string) =>
  ({ runId }: Run): boolean =>
    threadId !== "" && ownerOf(runId) !== threadId;

/** A clone inherits no unfinished run, also when it is rewound to before it was made. */
function withoutUnfinished(runs: Runs, isDropped: (run: Run) => boolean): Runs {
  let { unfinished, background } = runs;
  for (const [runId, run] of trieEntries(runs.unfinished)) {
    if (!isDropped(run)) continue;
    unfinished = trieDelete(unfinished, runId);
    if (run.background) background = trieDelete(background, run.background.agentId);
  }
  return { ...runs, unfinished, background };
}
