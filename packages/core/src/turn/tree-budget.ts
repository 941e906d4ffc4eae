import { exhausted, limitsCost, type Budget, type Used } from "../config/budget.ts";
import { CinchError } from "../errors.ts";
import { readEvent } from "../events/read-event.ts";
import { tokensOf, totalOf, type Spending } from "../events/usage.ts";
import { waitsForRun } from "../folds/awaited.ts";
import { isWaiting } from "../folds/progress.ts";
import { isOpenIn, runOfTurn, type Run } from "../folds/runs.ts";
import { newThreadState, reduceThreadAll, type ThreadState } from "../folds/state.ts";
import { trieEntries, trieGet } from "../folds/trie.ts";
import { endedTurn } from "../thread/run-turn.ts";
import type { Thread } from "../thread/thread.ts";
import { ancestorsOf, type Driver, type DriverPorts } from "./driver.ts";
import type { Setup } from "./setup.ts";

const NOTHING: Spending = { tokens: 0, cost: 0 };

/**
 * Describes the limit that this thread or one above it has reached. `null`: the driver may ask the model. A run counts from its start:
 * until its end is recorded, what it has used is read from the journal of its child, wherever the child is driven.
 */
export async function exhaustedInTree({ state, ports, ancestors }: Driver, setup: Setup): Promise<string | null> {
  const budgets = setup.budgets();
  if (budgets.length === 0 && ancestors.every((thread) => budgetsOf(thread).length === 0)) return null;
  let below = state;
  let turnId = state.turn?.turnId;
  let work: Work | null = null;
  const own = await reachedIn(state, budgets, { turnId, work, ports });
  if (own !== null) return own;
  for (const thread of ancestors.toReversed()) {
    const above = (await stateOf(thread.id, ports)) ?? thread.state;
    // A turn that a person has started in the thread of a subagent is no run: no turn above is charged for it.
    const run = runOfTurn(below, turnId, above);
    turnId = run?.turnId;
    const ms: number = (below.turn?.watch.ms ?? 0) + sinceWatch(below, work, ports);
    work = run ? { run, ms } : null;
    const reached = await reachedIn(above, budgetsOf(thread), { turnId, work, ports });
    if (reached !== null) return `${reached}, of a thread above this one`;
    below = above;
  }
  return null;
}

/** Journals are read only where there is a limit. */
const reachedIn = async (state: ThreadState, budgets: readonly Budget[], of: Parameters<typeof usedIn>[1]) =>
  budgets.length === 0 ? null : exhausted(await usedIn(state, of), budgets);

const budgetsOf = ({ ports, state }: Thread): readonly Budget[] => ports.modes.budgets(state.control);

/** Whether this thread or one above it has a limit in dollars, which needs the price of the model. */
export const limitsCostInTree = ({ agent }: ThreadState, { threads }: DriverPorts, own: readonly Budget[]): boolean =>
  limitsCost([...own, ...ancestorsOf(agent, threads).flatMap(budgetsOf)]);

/** What all turns of a thread and one of them have used, including their unfinished runs. */
async function usedIn(
  state: ThreadState,
  { turnId, work, ports }: { turnId: string | undefined; work: Work | null; ports: DriverPorts },
): Promise<{ turn: Used | null; thread: Used }> {
  const { turn, usage, spent, outlived } = state;
  const runs = await usedByRuns(state, ports);
  const below = totalOf(runs);
  const sinceMs = sinceWatch(state, work, ports);
  const thread = {
    steps: spent.steps,
    tokens: tokensOf(usage) + below.tokens,
    cost: spent.cost + below.cost,
    wallMs: spent.ms + sinceMs,
  };
  if (turnId === undefined) return { turn: null, thread };
  const belowTurn = runs.filter((run) => run.turnId === turnId);
  if (turn?.turnId === turnId) {
    const { steps, watch } = turn;
    return { turn: { steps, wallMs: watch.ms + sinceMs, ...totalOf([turn, ...belowTurn]) }, thread };
  }
  const ended = trieGet(outlived, turnId);
  // The turn makes no step and does no work any more.
  return { turn: ended ? { steps: 0, wallMs: 0, ...totalOf([ended, ...belowTurn]) } : null, thread };
}

/** How long the turn of a subagent has worked on its run so far. */
interface Work {
  run: Run;
  ms: number;
}

/**
 * How long the turn has worked since its stopwatch was last read. One that waits for the run below it has worked as long as that, but for the
 * time in which another subagent worked beside it: the stopwatch has it already.
 */
function sinceWatch({ turn }: ThreadState, work: Work | null, { clock }: DriverPorts): number {
  if (!turn) return 0;
  const sinceMs = Math.max(0, clock.now() - turn.watch.at);
  if (!isWaiting(turn)) return sinceMs;
  return work && waitsForRun(turn, work.run) ? Math.min(work.ms, sinceMs) : 0;
}

type UsedByRun = Spending & Pick<Run, "turnId">;

function usedByRuns({ runs: { unfinished } }: ThreadState, ports: DriverPorts): Promise<UsedByRun[]> {
  const runs = Array.from(trieEntries(unfinished), ([, run]) => run);
  return Promise.all(runs.map(async (run) => ({ turnId: run.turnId, ...(await usedByRun(run, ports)) })));
}

async function usedByRun({ runId, childThreadId }: Run, ports: DriverPorts): Promise<Spending> {
  const state = await stateOf(childThreadId, ports);
  const turn = state && (await turnOf(childThreadId, { state, runId, ports }));
  if (!turn) return NOTHING;
  const below = await usedByRuns(state, ports);
  return totalOf([turn, ...below.filter(({ turnId }) => turnId === turn.turnId)]);
}

/** The turn that works on a run, or has worked on it. `null`: no turn has begun it. */
async function turnOf(
  threadId: string,
  { state, runId, ports }: { state: ThreadState; runId: string; ports: DriverPorts },
): Promise<UsedByRun | null> {
  const { turn } = state;
  if (isOpenIn(state, runId)) return turn && trieGet(turn.inputIds, runId) ? turn : null;
  const ended = await endedTurn({ id: threadId, state, read: (range) => read(threadId, ports, range) }, runId);
  return ended && { turnId: ended.turnId, tokens: tokensOf(ended.usage), cost: ended.cost ?? 0 };
}

/** The state of a thread by its journal: another process may drive it, and this one may not have it open yet. `null`: there is none. */
async function stateOf(threadId: string, ports: DriverPorts): Promise<ThreadState | null> {
  const state = ports.threads.opened(threadId)?.state ?? newThreadState;
  try {
    return reduceThreadAll(state, await read(threadId, ports, { after: state.seq }));
  } catch (error) {
    if (error instanceof CinchError && error.code === "THREAD_NOT_FOUND") return null;
    throw error;
  }
}

const read = async (threadId: string, { store }: DriverPorts, range: Parameters<Thread["read"]>[0]) =>
  (await store.read(threadId, range)).map(readEvent);
